"""The conversations of a run as the metrics read them: what a person said, and what the system answered."""

from dataclasses import dataclass

from qc.errors import EmptyRunError
from qc.run import Run


@dataclass(frozen=True, slots=True)
class Exchange:
    """What a person wrote, and the system's reply to it; None where there was none. `round` counts from 1."""

    round: int
    input: str
    reply: str | None


@dataclass(frozen=True, slots=True)
class Transcript:
    """A conversation."""

    exchanges: tuple[Exchange, ...]

    @property
    def replies(self) -> tuple[str, ...]:
        """What the system said, reply by reply."""
        return tuple(exchange.reply for exchange in self.exchanges if exchange.reply is not None)

    @property
    def said(self) -> tuple[tuple[str, str], ...]:
        """Who said what, in order: `person` or `system`, and the words."""
        lines: list[tuple[str, str]] = []
        for exchange in self.exchanges:
            lines.append(("person", exchange.input))
            if exchange.reply is not None:
                lines.append(("system", exchange.reply))
        return tuple(lines)


def transcripts(run: Run) -> tuple[Transcript, ...]:
    """Return the conversations of `run`, one for each row of `run.conversations`.

    Raises:
        EmptyRunError: the source holds no words, or no replies.
    """
    if run.words is None or not run.words.exchanges["reply"].notna().any():
        raise EmptyRunError(
            f"{run.source}: the run {run.name!r} holds no replies of the systems, so there is nothing to "
            "score. Give the database or an export with the words; with --scores alone, metrics of a file "
            "are held against people without them."
        )
    gathered: list[list[Exchange]] = [[] for _ in range(len(run.conversations))]
    exchanges = run.words.exchanges
    replies = exchanges["reply"].astype(object).where(exchanges["reply"].notna(), None)
    columns = (exchanges["conversation"], exchanges["round"], exchanges["input"], replies)
    for conversation, number, said, reply in zip(*(column.tolist() for column in columns), strict=True):
        gathered[conversation].append(Exchange(number, said, reply))
    return tuple(Transcript(tuple(each)) for each in gathered)
