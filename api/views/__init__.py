"""What pages, reports, terminals and notebooks show of a process; no server, no template."""
