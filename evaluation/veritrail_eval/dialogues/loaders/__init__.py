"""Loaders of dialogues with labelled turns, one module a data set (docs/datasets.md)."""
