"""GraphRAG output folders (schema generations of 1.x, 2.x and 3.x) with one answered question.

`layout` finds the files, `tables` reads their columns, `extraction` and `reports` turn them
into stages 1 to 4, `answer` reads what the query wrote, `answering` hangs it on the index as
stages 5 and 6, `stream` hands all of it over. `citations` and `texts` are pure.

Source: VeriTrail B.2.1 (stages of a GraphRAG process).
"""

from veritrail_graph.graph.importers.graphrag.importer import GraphRagImporter

__all__ = ["GraphRagImporter"]
