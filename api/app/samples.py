"""The samples of the package: invented processes with planted errors, to look at first."""

from __future__ import annotations

from importlib import resources

SAMPLES = ("harbour-summary", "graphrag-energy")
"""Their ids, which are the names of their files; the first one is loaded by the page."""

FOLDER = resources.files("veritrail_graph") / "samples"
