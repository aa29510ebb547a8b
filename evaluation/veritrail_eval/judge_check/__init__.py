"""Measure how far to trust a judge: labelled pairs of source and claim, and its verdicts on them.

The pairs in `pairs.jsonl` were written for this project, about invented people, places and firms;
they are under the project's licence.
"""
