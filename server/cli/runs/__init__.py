"""Commands about studies, runs and recruiting."""
