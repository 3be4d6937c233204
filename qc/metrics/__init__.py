"""Automatic metrics of conversations and systems, and their agreement with people: `python -m qc.metrics`."""
