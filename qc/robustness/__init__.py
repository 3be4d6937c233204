"""What the published method leaves open: how sure a ranking is, and what it may owe to something else."""
