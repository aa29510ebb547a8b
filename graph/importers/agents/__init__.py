"""Message lists: conversations with a model, and logs of many agents."""

from veritrail_graph.graph.importers.agents.importer import AgentsImporter

__all__ = ["AgentsImporter"]
