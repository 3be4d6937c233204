"""Questions that the published method leaves open: how sure a ranking is, and what else may explain it."""
