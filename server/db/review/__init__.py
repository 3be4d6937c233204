"""Store what researchers review: reports, flagged lines and their own interventions."""
