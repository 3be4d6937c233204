"""Tests of loading how messages were written, summed by conversation, from the server's view."""

from typing import Any

from qc.loading import load
from qc.run import WRITING_NUMBERS

COLUMNS = ("typed", "composed", "pasted", "pastes", "writing_ms", "longest_pause_ms", "away", "away_ms")


def recorded(database: Any, *rows: tuple[str, int, tuple[int, ...]]) -> Any:
    """Give it the view that a server adds, with these lines: conversation, line, numbers."""
    names = f"run_id, conversation_id, turn_index, {', '.join(COLUMNS)}"
    database.execute(f"CREATE TABLE writing ({names})")
    database.execute("CREATE VIEW v1_writing AS SELECT * FROM writing")
    for conversation, turn, numbers in rows:
        told = ", ".join(map(str, numbers))
        database.execute(f"INSERT INTO writing VALUES ('r1', '{conversation}', {turn}, {told})")  # noqa: S608
    return database


def test_they_are_summed_by_conversation_and_of_pauses_the_longest_counts(database: Any) -> None:
    rows = [
        ("r1-anna-3", 0, (5, 0, 40, 1, 3_000, 900, 0, 0)),
        ("r1-anna-1", 0, (10, 2, 0, 0, 5_000, 4_000, 1, 8_000)),
        ("r1-anna-1", 2, (20, 3, 7, 1, 6_000, 2_000, 2, 1_000)),
        ("elsewhere", 0, (9, 9, 9, 9, 9, 9, 9, 9)),  # of no conversation that is analysed
    ]
    run = load(recorded(database, *rows).url)
    assert run.writing is not None
    names = run.conversations["conversation"].iloc[run.writing["conversation"]].to_list()
    assert dict(zip(names, run.writing[[*WRITING_NUMBERS]].to_numpy().tolist(), strict=True)) == {
        "r1-anna-1": [2, 30, 5, 7, 1, 11_000, 4_000, 3, 9_000],
        "r1-anna-3": [1, 5, 0, 40, 1, 3_000, 900, 0, 0],
    }


def test_without_the_view_or_a_line_nothing_is_known(database: Any) -> None:
    assert load(database.url).writing is None
    assert load(recorded(database).url).writing is None
