"""Access to the service, and the record of it: keys, sessions, rates, the audit log."""
