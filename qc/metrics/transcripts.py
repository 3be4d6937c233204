"""The conversations of a run as input of metrics: the person's messages and the system's replies."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from qc.errors import EmptyRunError
from qc.run import Run, Words


@dataclass(frozen=True, slots=True)
class Exchange:
    """A person's message, and the system's reply (None if there was none). `round` counts from 1."""

    round: int
    input: str
    reply: str | None


@dataclass(frozen=True, slots=True)
class Transcript:
    """A conversation.

    Attributes:
        exchanges: messages and replies, in order.
        fact: what the system was given to speak from, such as its persona; empty if unknown or nothing.
    """

    exchanges: tuple[Exchange, ...]
    fact: str = ""

    @property
    def replies(self) -> tuple[str, ...]:
        """The system's replies."""
        return tuple(exchange.reply for exchange in self.exchanges if exchange.reply is not None)

    @property
    def said(self) -> tuple[tuple[str, str], ...]:
        """All lines in order: `person` or `system`, and the text."""
        lines: list[tuple[str, str]] = []
        for exchange in self.exchanges:
            lines.append(("person", exchange.input))
            if exchange.reply is not None:
                lines.append(("system", exchange.reply))
        return tuple(lines)


def conversation_names(run: Run) -> list[str]:
    """Return the names of the conversations of `run`: the rated ones in its order, then the others."""
    rated: list[str] = run.conversations["conversation"].tolist()
    return rated if run.unrated is None else rated + run.unrated.conversations["conversation"].tolist()


def transcripts(run: Run) -> tuple[Transcript, ...]:
    """Return the transcripts of the conversations of `run`, in the order of `conversation_names`.

    Raises:
        EmptyRunError: the source holds no texts, or no replies.
    """
    if run.words is None or not run.words.exchanges["reply"].notna().any():
        raise EmptyRunError(
            f"{run.source}: the run {run.name!r} holds no replies of the systems, so there is nothing to "
            "score. Give the database or an export with the words; with --scores alone, metrics of a file "
            "are held against people without them."
        )
    rated = _gathered(run.words, _personas(run, run.conversations))
    if run.unrated is None:
        return rated
    return rated + _gathered(run.unrated.words, [""] * len(run.unrated.conversations))


def _personas(run: Run, conversations: pd.DataFrame) -> list[str]:
    """Return the persona of each conversation whose system was told it; empty for the others."""
    told = conversations["system"].isin(run.systems.loc[run.systems["has_persona"], "system"])
    personas: list[str] = conversations["persona"].where(told).fillna("").to_list()
    return personas


def _gathered(words: Words | None, facts: Sequence[str]) -> tuple[Transcript, ...]:
    """Return the transcript of each conversation, of which `facts` has one each."""
    if words is None:
        return tuple(Transcript((), fact) for fact in facts)
    gathered: list[list[Exchange]] = [[] for _ in facts]
    exchanges = words.exchanges
    replies = exchanges["reply"].astype(object).where(exchanges["reply"].notna(), None)
    columns = (exchanges["conversation"], exchanges["round"], exchanges["input"], replies)
    for conversation, number, said, reply in zip(*(column.tolist() for column in columns), strict=True):
        gathered[conversation].append(Exchange(number, said, reply))
    return tuple(Transcript(tuple(each), fact) for each, fact in zip(gathered, facts, strict=True))
