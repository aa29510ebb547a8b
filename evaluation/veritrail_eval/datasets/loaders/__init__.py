"""Loaders of other people's data sets, one module each (docs/datasets.md)."""
