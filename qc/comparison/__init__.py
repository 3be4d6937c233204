"""Compare systems side by side, by votes of an arena, and several runs of one experiment."""

from qc.comparison.side_by_side import SystemComparison, compare

__all__ = ["SystemComparison", "compare"]
