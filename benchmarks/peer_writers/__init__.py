"""The graph writers of other libraries: their environment, and what is done with them."""
