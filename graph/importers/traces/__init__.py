"""Traces: what instrumented programs recorded of their calls, and the data flow between them."""
