"""PROV-JSON, as our own export and other programs write it.

`document` reads names and literals and joins bundles, `importer` makes the process.

Source: PROV-DM and PROV-JSON (W3C).
"""

from veritrail_graph.graph.importers.prov.importer import ProvImporter

__all__ = ["ProvImporter"]
