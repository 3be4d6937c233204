"""Automatic scores of conversations and systems, and how they agree with people: `python -m qc.metrics`."""
