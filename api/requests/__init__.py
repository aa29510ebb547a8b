"""The requests of jobs; every door sends the same request, and its job keeps it."""
