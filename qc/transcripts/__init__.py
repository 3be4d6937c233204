"""The method of direct assessment: finished conversations, or other texts, that several workers rate.

Source: Ji, PhD thesis, chapters 3 and 4. Workers are filtered by bad twins of items, repeats are averaged
with their items, and what controls the workers never counts for a system.
"""
