"""Sections on the course of the run: its registration, what was evaluated, what went wrong, its cost."""
