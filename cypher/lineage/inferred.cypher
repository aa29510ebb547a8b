// purpose: Edges into some nodes, from nodes that are known, which the input does not name.
// param process_id: string - the process
// param node_ids: list - the nodes that they lead to
// param known: map - by node_id: the nodes that they may come from
// column source: string - where the edge comes from
// column target: string - where it leads to
// column inferred: string - how it was found
// column score: float - how sure that is, from 0 to 1
// source: VeriTrail 2 (src)
UNWIND $node_ids AS node_id
MATCH (v:Span)
WHERE v.process_id = $process_id AND v.node_id = node_id
MATCH (v)<-[e:INPUT_TO]-(u:Span)
WHERE e.inferred IS NOT NULL AND $known[u.node_id] IS NOT NULL
RETURN u.node_id AS source, v.node_id AS target, e.inferred AS inferred, e.score AS score
