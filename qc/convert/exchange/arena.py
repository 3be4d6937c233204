"""Votes with LMArena's columns: `model_a`, `model_b`, `winner`, `judge`, `tstamp` and both conversations.

compar:IA's columns are read, too. `candor report` reads the same files for their scores (`qc.loading.votes`).
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from qc.convert.exchange.content import ChatMessage, Content, SharedTranscript, Vote, Winner
from qc.convert.exchange.rows import Json, Reading, SourceRow, openai_messages, simulation, write_lines
from qc.errors import quoted
from qc.loading.source import FIRST_SYSTEM
from qc.loading.votes import (
    CHOSEN,
    EQUAL,
    IDS,
    ONE_HOT,
    OUTCOMES,
    SECOND_SYSTEM,
    TEXTS,
    VOTERS,
    WINNER,
    YES,
)

HOLDS = frozenset({"workers", "votes"})
_TIME = "tstamp"
_KNOWN = (
    *(*FIRST_SYSTEM, *SECOND_SYSTEM, WINNER, *ONE_HOT, CHOSEN, EQUAL, *VOTERS, *IDS, _TIME),
    *(name for pair in TEXTS for name in pair),
)
_WINNERS: dict[Winner, str] = {"first": "model_a", "second": "model_b", "tie": "tie"}
_OF_OUTCOME: dict[int, Winner] = {1: "first", -1: "second", 0: "tie"}


def holds(first: Json) -> bool:
    """Return whether a file that begins with this row is of the format."""
    return any(name in first for name in FIRST_SYSTEM) and any(name in first for name in SECOND_SYSTEM)


def read(rows: Sequence[SourceRow], reading: Reading) -> Content:
    """Return the votes in `rows`; those without a choice are left out."""
    found: dict[str, Vote] = {}
    for row in rows:
        reading.name_columns(row, _KNOWN)
        name = reading.name(row, IDS)
        first, second = (
            SharedTranscript(name, reading.system(row.where, _first(row, systems)), _said(row, side, reading))
            for side, systems in enumerate((FIRST_SYSTEM, SECOND_SYSTEM))
        )
        winner = _winner(row, reading)
        voter, time = _first(row, VOTERS), row.values.get(_TIME)
        if name in found:
            reading.unread["votes given twice"] += 1
        elif winner is None:
            reading.unread["rows without a choice"] += 1
        elif first.system == second.system:
            reading.unread["votes between one system"] += 1
        else:
            seconds = float(time) if isinstance(time, int | float) else None
            found[name] = Vote(name, first, second, winner, None if voter is None else str(voter), seconds)
    return Content(reading.title, votes=tuple(found.values()))


def _first(row: SourceRow, names: Sequence[str]) -> object:
    """Return the value of the first of `names` that the row has."""
    return next((row.values[name] for name in names if row.values.get(name) is not None), None)


def _said(row: SourceRow, side: int, reading: Reading) -> tuple[ChatMessage, ...]:
    name = next((pair[side] for pair in TEXTS if row.values.get(pair[side]) is not None), None)
    return () if name is None else reading.messages(f"{row.where}.{name}", row.values[name])


def _winner(row: SourceRow, reading: Reading) -> Winner | None:
    if WINNER in row.values:
        given = str(row.values[WINNER] or "").strip().lower()
        if given and given not in OUTCOMES:
            reading.refuse(f"{row.where}.{WINNER}", f"{quoted(given)} is none of {', '.join(OUTCOMES)}.")
        return _OF_OUTCOME[OUTCOMES[given]] if given in OUTCOMES else None
    if any(name in row.values for name in ONE_HOT):
        given_one = [name for name in ONE_HOT if str(row.values.get(name)).strip().lower() in YES]
        if len(given_one) > 1:
            reading.refuse(row.where, f"more than one of {', '.join(ONE_HOT)} is 1.")
        return _OF_OUTCOME[int(ONE_HOT[given_one[0]])] if given_one else None
    if str(row.values.get(EQUAL)).lower() == "true":
        return "tie"
    systems = {_first(row, SECOND_SYSTEM): "second", _first(row, FIRST_SYSTEM): "first"}
    chosen = row.values.get(CHOSEN)
    return None if chosen is None else systems.get(chosen)  # type: ignore[return-value]


def write(content: Content, path: Path) -> None:
    """Write the votes of `content`, one a line."""
    write_lines(path, lines(content))


def lines(content: Content) -> Iterator[Json]:
    """Yield a row for each vote of `content`."""
    for vote in content.votes:
        yield _line(vote) | simulation(content)


def _line(vote: Vote) -> Json:
    known = {
        "id": vote.name,
        "model_a": vote.first.system,
        "model_b": vote.second.system,
        WINNER: _WINNERS[vote.winner],
        "judge": vote.voter,
        "turn": sum(one.author == "worker" for one in vote.first.messages) or None,
        _TIME: vote.time,
        TEXTS[0][0]: openai_messages(vote.first.messages) or None,
        TEXTS[0][1]: openai_messages(vote.second.messages) or None,
    }
    return {name: value for name, value in known.items() if value is not None}
