"""Speed, printed as ratios of one run: `make bench`, or `python -m benchmarks --help`.

Every figure is measured in a child process of its own and held against a reference that
does the same with as little as possible, on the same engine and in the same minutes: the
machine may be slow or busy, the ratio says what our code costs.
"""
