"""Summaries of summaries: levels, running summaries and trees."""

from veritrail_graph.graph.importers.summaries.importer import SummariesImporter

__all__ = ["SummariesImporter"]
