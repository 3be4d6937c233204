"""One worker's way through an assignment: pure, and light to import."""
