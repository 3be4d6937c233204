"""The bots of a server: registrations, opened bots, and fitness checks."""
