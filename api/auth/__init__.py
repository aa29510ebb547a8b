"""Who may use the service, and who did what: keys, sessions, rates, the audit log."""
