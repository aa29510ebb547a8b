"""Webhooks: short signed messages to an address of the operator's."""
