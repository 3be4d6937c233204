"""A page's report of how a message was written."""

WRITING = {
    "typed": 12,
    "composed": 5,
    "pasted": 6,
    "pastes": 1,
    "writing_ms": 8_000,
    "longest_pause_ms": 3_000,
    "away": 2,
    "away_ms": 41_000,
}
