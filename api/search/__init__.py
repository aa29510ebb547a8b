"""The index of texts on this machine, which search over all processes reads."""
