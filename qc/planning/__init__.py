"""What judgments say about planning an experiment, and about trusting a metric instead of one."""
