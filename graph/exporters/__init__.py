"""The exporters: stored processes in the forms that others read."""
