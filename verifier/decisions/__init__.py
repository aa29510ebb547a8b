"""Decision models: typed questions about a text in, probabilities out, and no written answer.

Source: ours; docs/adr/0076-decision-models.md.
"""
