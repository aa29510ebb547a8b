"""Language models: the port, and what stands between the method and an endpoint."""
