"""Whose opinion scores are: workers sorted by their background, and scores for another population."""

from qc.groups.whose_opinion import WhoseOpinion, whose_opinion

__all__ = ["WhoseOpinion", "whose_opinion"]
