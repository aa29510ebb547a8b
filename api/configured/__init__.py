"""What judges, attributes and verifies, made ready from the settings and a request."""
