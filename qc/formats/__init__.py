"""Formats that this package both reads and writes: archives, and the constants of the published formats."""
