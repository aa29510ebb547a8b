"""The nouns: processes, spans, claims and trails, and the graph that stores them."""
