"""The doors: the command line, and the one place where adapters are chosen."""
