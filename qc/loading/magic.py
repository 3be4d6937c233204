"""The first bytes by which a file tells what it is, whatever it is called."""

SQLITE = b"SQLite format 3\x00"
PARQUET = b"PAR1"
ZIP = b"PK\x03\x04"
