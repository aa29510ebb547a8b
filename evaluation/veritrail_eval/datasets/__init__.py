"""Data sets: labelled claims about processes, in our format and in those of others."""
