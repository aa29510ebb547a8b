"""Figures of the papers: numbers out of labels, verdicts and costs. Nothing here reads or writes.

All of it is plain Python, so that it needs no library; the tests compare it
with scikit-learn, statsmodels, krippendorff and SciPy (docs/adr/0031-figures.md).
"""
