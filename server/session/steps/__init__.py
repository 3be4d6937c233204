"""Decide what one event changes in a session. Pure."""
