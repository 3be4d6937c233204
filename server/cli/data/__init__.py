"""Commands about stored data: export, audit, backup, secrets, workers."""
