"""The gate of a pipeline: whether a process's claims are supported well enough to go on."""
