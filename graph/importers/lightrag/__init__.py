"""LightRAG's working folder with answers that were given over it.

`folder` finds the stores and reads what they hold, `graphml` the file of the graph, `stored_graph`
one in Neo4j, `extractions` what the cache keeps of the model's calls, `merging` makes the
descriptions into nodes, `answers` reads the answers and what they were given, `importer` hands all
of it over.

Source: VeriTrail B.2.1 (stages of a process of GraphRAG, which has one more).
"""

from veritrail_graph.graph.importers.lightrag.importer import LightRagImporter

__all__ = ["LightRagImporter"]
