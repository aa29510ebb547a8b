"""Figures of attributions: what a sentence rests on, by one file against another.

Plain Python throughout, so that all of it works without a library.
"""
