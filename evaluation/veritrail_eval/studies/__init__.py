"""Studies: what readers say of sentences, and how long it takes them, in the service database."""
