"""Serve assignments: transcripts, search, and actions on their workers."""
