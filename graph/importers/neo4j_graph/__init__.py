"""Graphs that neo4j-graphrag or LLM Graph Builder wrote into a database that is there already."""

from veritrail_graph.graph.importers.neo4j_graph.importer import Neo4jImporter

__all__ = ["Neo4jImporter"]
