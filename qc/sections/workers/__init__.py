"""Sections on the workers: who is kept, how they agree, and what they wrote."""
