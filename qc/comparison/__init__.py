"""Systems compared side by side: their scores, how sure these are, and who compared them."""

from qc.comparison.comparison import Comparison, compare

__all__ = ["Comparison", "compare"]
