"""Texts of systems (answers, questions, summaries) as input of metrics."""
