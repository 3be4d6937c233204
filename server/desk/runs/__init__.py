"""Serve runs: their lists, views, progress and actions."""
