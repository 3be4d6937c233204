"""The quality-control bots."""
