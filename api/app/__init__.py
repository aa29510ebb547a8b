"""The application: every operation once, typed; no HTTP, no printing, no words of one door."""

from veritrail_graph.api.app.application import Application

__all__ = ["Application"]
