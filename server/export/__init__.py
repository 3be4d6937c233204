"""A run as files: all of it as its views, and the published form of what was handed in."""
