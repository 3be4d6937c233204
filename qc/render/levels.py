"""The levels by which p-values are marked."""

from qc.robustness.clusters import ALPHA

SIGNIFICANT = ALPHA
SUGGESTIVE = 0.1
