"""Compare how a worker writes with the other workers of the run, for researchers to look at."""

from collections.abc import Iterable
from statistics import quantiles
from typing import Any, get_args

from sqlalchemy import Connection, text

from server.desk.transcript_responses import WritingMeasure, WritingRow


def writing(connection: Connection, assignment_id: str, run_id: int, *, simulated: bool) -> list[WritingRow]:
    """Return how the worker of an assignment writes, beside all of the run who are of its kind.

    People are held against people. Nothing is returned where it was not recorded.
    """
    rows = connection.execute(_SUMS, {"run": run_id, "simulated": simulated}).all()
    by_assignment = {row.assignment_id: _measures(row) for row in rows}
    own = by_assignment.get(assignment_id)
    if own is None:
        return []
    return [
        WritingRow(
            measure=measure,
            value=own[measure],
            **_quartiles(one[measure] for one in by_assignment.values()),
            workers=len(by_assignment),
        )
        for measure in get_args(WritingMeasure)
    ]


def _quartiles(values: Iterable[float | None]) -> dict[str, float | None]:
    """Return the quartiles of what is known, by linear interpolation; None of fewer than two values."""
    known = [value for value in values if value is not None]
    if len(known) < _FEWEST:
        return dict.fromkeys(_QUARTILES)
    return dict(zip(_QUARTILES, quantiles(known, n=4, method="inclusive"), strict=True))


def _measures(row: Any) -> dict[WritingMeasure, float | None]:
    every = row.typed + row.composed + row.pasted
    minutes = row.writing_ms / 60_000
    return {
        "pasted": _of(row.pasted, every),
        "typed": _of(row.typed, every),
        "pace": _of(row.typed + row.composed, minutes),
        "pause": row.longest_pause_ms / 1_000,
        "away": float(row.away),
        "away_seconds": row.away_ms / 1_000,
    }


def _of(part: float, whole: float) -> float | None:
    return part / whole if whole else None


_FEWEST = 2
_QUARTILES = ("low", "median", "high")
_SUMS = text("""
    SELECT conversation.assignment_id AS assignment_id, SUM(writing.typed) AS typed,
           SUM(writing.composed) AS composed, SUM(writing.pasted) AS pasted,
           SUM(writing.writing_ms) AS writing_ms, MAX(writing.longest_pause_ms) AS longest_pause_ms,
           SUM(writing.away) AS away, SUM(writing.away_ms) AS away_ms
    FROM writing
    JOIN conversation ON conversation.id = writing.conversation_id
    JOIN assignment ON assignment.id = conversation.assignment_id
    WHERE assignment.run_id = :run AND assignment.simulated = :simulated
      AND (conversation.side IS NULL OR conversation.side = 'left')
    GROUP BY conversation.assignment_id""")
