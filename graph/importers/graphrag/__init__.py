"""GraphRAG output folders (schema generations of 1.x, 2.x and 3.x) with one answered question.

`tables` finds the files and reads their columns, `nodes` turns them into stages 1 to 4, `answer`
reads what the query wrote and `citations` what a text cites, `answering` joins the answer to the
index as stages 5 and 6, `importer` hands all of it over.

Source: VeriTrail B.2.1 (stages of a GraphRAG process).
"""

from veritrail_graph.graph.importers.graphrag.importer import GraphRagImporter, index_process

__all__ = ["GraphRagImporter", "index_process"]
