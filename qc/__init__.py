"""Offline analysis of a run: from what workers rated to what can be said about the systems."""
