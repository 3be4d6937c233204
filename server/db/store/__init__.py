"""Run database work: one thread writes in groups, others read."""
