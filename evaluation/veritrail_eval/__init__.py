"""The papers' experiments: data sets, methods, figures and simulation.

Everything here runs on the ports of the verifier. Large libraries are imported where they are used,
so that a command that needs none of them starts quickly.
"""
