from unit.test_recorder import checked, edges, nodes
