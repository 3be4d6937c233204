"""Analyse side-by-side comparisons of systems: scores, intervals, and the workers who compared."""

from qc.comparison.comparison import SystemComparison, compare

__all__ = ["SystemComparison", "compare"]
