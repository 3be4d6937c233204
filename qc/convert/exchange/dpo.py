"""Preference pairs for DPO: `prompt`, `chosen` and `rejected`, as texts or as lists of messages.

The prompt is all that both conversations begin with; `chosen` and `rejected` go on from there.
"""

from collections.abc import Sequence
from pathlib import Path

from qc.convert.exchange.content import ChatMessage, Content, SharedTranscript, Vote
from qc.convert.exchange.rows import Json, Reading, SourceRow, openai_messages, simulation, write_lines
from qc.convert.hits import Loss

HOLDS = frozenset({"workers", "votes"})
_CHOSEN, _REJECTED = "chosen", "rejected"
_MODELS = {_CHOSEN: "chosen_model", _REJECTED: "rejected_model"}
_NAMES = ("id", "prompt_id")


def holds(first: Json) -> bool:
    """Return whether a file that begins with this row is of the format."""
    return _CHOSEN in first and _REJECTED in first


def read(rows: Sequence[SourceRow], reading: Reading) -> Content:
    """Return the pairs in `rows`; systems without a name are called `chosen` and `rejected`."""
    found = []
    for row in rows:
        reading.name_columns(row, ("prompt", _CHOSEN, _REJECTED, *_MODELS.values(), *_NAMES, "judge"))
        name, voter = reading.name(row, _NAMES), row.values.get("judge")
        prompt = _said(row, "prompt", reading) if "prompt" in row.values else ()
        chosen, rejected = (
            SharedTranscript(
                name,
                reading.system(row.where, row.values.get(model) or side),
                (*prompt, *_said(row, side, reading)),
            )
            for side, model in _MODELS.items()
        )
        found.append(Vote(name, chosen, rejected, "first", None if voter is None else str(voter)))
    return Content(reading.title, votes=tuple(found))


def _said(row: SourceRow, column: str, reading: Reading) -> tuple[ChatMessage, ...]:
    given = row.values.get(column)
    where = f"{row.where}.{column}"
    if not isinstance(given, str):
        return reading.messages(where, given)
    if column != "prompt" and "prompt" not in row.values:
        reading.refuse(row.where, "has no prompt, and its answers are texts.", "Add the column prompt.")
    text = reading.text(where, given)
    return (ChatMessage("worker" if column == "prompt" else "bot", text),) if text else ()


def losses(content: Content) -> list[Loss]:
    """Return the votes that are no pair of a better and a worse conversation."""
    ties = sum(vote.winner == "tie" for vote in content.votes)
    return [
        Loss("votes that found both equal", ties),
        Loss("times of votes", sum(vote.time is not None for vote in content.votes)),
    ]


def write(content: Content, path: Path) -> None:
    """Write the votes of `content` that prefer one conversation, one a line."""
    write_lines(path, (_line(vote) | simulation(content) for vote in content.votes if vote.winner != "tie"))


def _line(vote: Vote) -> Json:
    chosen, rejected = (vote.first, vote.second) if vote.winner == "first" else (vote.second, vote.first)
    shared = 0
    for one, other in zip(chosen.messages, rejected.messages, strict=False):
        if one != other:
            break
        shared += 1
    line = {
        "prompt": openai_messages(chosen.messages[:shared]),
        _CHOSEN: openai_messages(chosen.messages[shared:]),
        _REJECTED: openai_messages(rejected.messages[shared:]),
        "id": vote.name,
        _MODELS[_CHOSEN]: chosen.system,
        _MODELS[_REJECTED]: rejected.system,
    }
    return line if vote.voter is None else line | {"judge": vote.voter}
