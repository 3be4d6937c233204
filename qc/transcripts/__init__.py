"""Direct assessment: several workers rate finished conversations, or other texts.

Source: Ji, PhD thesis, chapters 3 and 4. Workers are filtered by bad twins of items, repeats are averaged
with their items, and control items never count for a system.
"""
