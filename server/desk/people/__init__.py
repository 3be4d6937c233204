"""Serve accounts: sign-in, people, tokens, the audit log."""
