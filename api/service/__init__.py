"""What answers over HTTP: REST, and what its routes share with the pages."""
