"""Metrics that compare a text with references word by word."""
