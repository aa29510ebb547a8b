"""Engines of judgement: who answers the two questions of the method."""
