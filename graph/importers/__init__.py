"""Readers of what people already have, one format a module."""
