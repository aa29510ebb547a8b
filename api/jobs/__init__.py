"""Verifications that outlive a request: submitted, worked off, watched, cancelled, resumed."""
