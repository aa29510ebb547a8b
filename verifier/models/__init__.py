"""Language models: the port, and what is between the method and an endpoint."""
