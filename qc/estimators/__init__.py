"""Estimate how precise means of judgments are, and how many judgments a conclusion takes."""
