"""The evaluation: what its methods are made with, what they say, and what they cost."""
