"""What teams keep beside the graph: comments, and who reviews which claims."""
