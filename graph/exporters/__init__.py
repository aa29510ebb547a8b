"""What is stored, in the forms that others read."""
