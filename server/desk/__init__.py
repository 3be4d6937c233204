"""What a researcher sees of runs, by HTTP and as files."""
