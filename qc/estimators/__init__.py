"""Estimate the precision of means of judgments, and the number of judgments for a conclusion."""
