"""Who may do what, and how often."""
