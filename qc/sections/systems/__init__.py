"""Sections on the systems: their scores, and how certain and how general these are."""
