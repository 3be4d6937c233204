"""Counts that change in the transactions that change what they count."""
