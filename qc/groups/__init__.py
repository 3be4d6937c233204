"""Sort workers by background, and compute scores by group and for another population."""

from qc.groups.whose_opinion import WhoseOpinion, whose_opinion

__all__ = ["WhoseOpinion", "whose_opinion"]
