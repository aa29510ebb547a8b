"""What a job can be asked to do; every door sends the same request, and its job keeps it."""
