"""Background jobs, each in a child process: reports, rehearsals, interim analyses."""
