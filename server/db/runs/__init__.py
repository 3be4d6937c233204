"""Store runs, their rules and state, and the studies and items they are opened with."""
