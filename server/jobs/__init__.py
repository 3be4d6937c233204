"""What the server does in the background, each in a child process: reports, rehearsals, running analyses."""
