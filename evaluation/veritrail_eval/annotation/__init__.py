"""Annotation by people: sheets handed out, read back with every fault named, and final labels."""
