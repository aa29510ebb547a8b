"""What the service keeps beside the graph: keys, jobs, events, and who did what."""
