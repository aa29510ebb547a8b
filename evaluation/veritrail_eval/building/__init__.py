"""Building data sets: chunks, hierarchical summaries, labels by matching, sheets for a person.

Source: VeriTrail B.
"""
