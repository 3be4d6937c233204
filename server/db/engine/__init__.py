"""Open databases and run one statement over many rows."""
