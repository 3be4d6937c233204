"""Robustness analyses beyond the published method: uncertainty of the ranking, and other explanations."""
