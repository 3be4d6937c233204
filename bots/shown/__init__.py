"""Reduce a model's output to the text that a worker may see, by one rule for every kind of bot. Pure.

A model's output may contain thoughts, marks of its chat template, its own label, and lines made up for the
other speaker. `shown_text` keeps only the model's own line, in the looks that all bots share, and reports the
changes. `phase` tells the state of an output that is still growing.
"""

from bots.shown.text import CHANGES, Change, Phase, ShownText, is_plain, phase, shown_text

__all__ = ["CHANGES", "Change", "Phase", "ShownText", "is_plain", "phase", "shown_text"]
