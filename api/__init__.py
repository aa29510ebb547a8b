"""The doors: the command line, REST, Python, MCP, and the one place where adapters are chosen."""
