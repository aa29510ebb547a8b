"""The process file of the contract, `veritrail.process/1`: JSON, JSON Lines, either gzipped."""

from veritrail_graph.graph.importers.process_file.importer import ProcessFileImporter

__all__ = ["ProcessFileImporter"]
