"""The papers' experiments: data sets, methods, figures and simulation.

Everything here runs on the ports of the verifier. What needs the extra `evaluation` is imported
where it is used, so that the rest of the package works without it.
"""
