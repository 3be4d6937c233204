"""Analyse side-by-side comparisons of systems: scores, intervals, and the workers who compared."""

from qc.comparison.comparison import Comparison, compare

__all__ = ["Comparison", "compare"]
