"""The contents of pages as plain values: no request, no store, no HTML."""
