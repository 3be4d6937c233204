"""First bytes that identify a file's format, independent of its name."""

SQLITE = b"SQLite format 3\x00"
PARQUET = b"PAR1"
ZIP = b"PK\x03\x04"
