"""The HTTP service: REST, and the parts that its routes share with the pages."""
