"""Sessions of workers that are under way: arriving, and talking."""
