"""Traces fetched from the tools that keep them: what `langfuse://PROJECT` and others name.

An address is read page by page into a file that the reader of the tool's format reads, so that a
trace from an address and the same trace from a file are one process. Keys come from the tool's own
environment variables, go to the tool's own host alone, and stand in no file and no message.

Source: docs/adr/0071-addresses.md.
"""
