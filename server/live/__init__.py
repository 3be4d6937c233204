"""Admit workers to runs, and hold their sessions."""
