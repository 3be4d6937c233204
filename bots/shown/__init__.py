"""Reduce a model's output to what a worker may see, by one rule for every kind of bot. Pure.

A model's output may hold its thoughts, the marks of its chat template, its own label and lines that it has
made up for the other speaker. `shown_text` leaves what it says, in the looks that all bots have, and tells
what was changed; `phase` tells how far an output is that is still growing.
"""

from bots.shown.text import CHANGES, Change, Phase, ShownText, is_plain, phase, shown_text

__all__ = ["CHANGES", "Change", "Phase", "ShownText", "is_plain", "phase", "shown_text"]
