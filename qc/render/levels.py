"""The levels by which p-values are marked."""

from qc.verdict.clusters import ALPHA

SIGNIFICANT = ALPHA
SUGGESTIVE = 0.1
