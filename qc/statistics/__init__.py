"""Numerical functions on arrays, independent of runs and systems."""
