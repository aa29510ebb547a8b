"""Score methods on labelled turns of dialogues: VISTA, its ablations and baselines.

Source: VISTA 5, 6, 7, C, D.
"""
