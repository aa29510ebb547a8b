"""The service: REST and the page in one application, and the server and the log around it."""
