"""What is shown, as plain values: no request, no store, no HTML."""
