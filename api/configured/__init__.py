"""Judges, attribution and dialogues, made ready from the settings and a request."""
