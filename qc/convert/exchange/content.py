"""Transcripts and votes, in the one form that every exchange format is read into and written from."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from qc.convert.hits import Loss

Author = Literal["worker", "bot"]
Winner = Literal["first", "second", "tie"]


class ChatMessage(NamedTuple):
    """A line of a conversation."""

    author: Author
    text: str


@dataclass(frozen=True, slots=True)
class SharedTranscript:
    """A conversation with one system.

    Attributes:
        name: its name; two conversations of one system have different names.
        system: the system that wrote the bot's lines.
        messages: its lines.
        worker: pseudonym of the person who chatted, if it is known.
        ratings: by criterion, as given; empty if it was not rated.
    """

    name: str
    system: str
    messages: tuple[ChatMessage, ...]
    worker: str | None = None
    ratings: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Vote:
    """A choice between two conversations, each as long as it was when the choice was made.

    Attributes:
        name: its name.
        first, second: the two conversations, without messages if the source has no texts.
        winner: the preferred one.
        voter: who chose, if that is known.
        time: when, in seconds since 1970 (UTC); None if unknown.
    """

    name: str
    first: SharedTranscript
    second: SharedTranscript
    winner: Winner
    voter: str | None = None
    time: float | None = None


@dataclass(frozen=True)
class Content:
    """The transcripts or the votes of a source, never both.

    Attributes:
        name: name of the source.
        transcripts: conversations; empty if there are votes.
        votes: choices between two conversations.
        lost: what was not taken from the source.
        simulated: whether programs took the place of people.
    """

    name: str
    transcripts: tuple[SharedTranscript, ...] = ()
    votes: tuple[Vote, ...] = ()
    lost: tuple[Loss, ...] = ()
    simulated: bool = False

    def conversations(self) -> Iterator[SharedTranscript]:
        """Yield all conversations that have texts; of a vote, the first and then the second."""
        for transcript in self.transcripts:
            if transcript.messages:
                yield transcript
        for vote in self.votes:
            for transcript in (vote.first, vote.second):
                if transcript.messages:
                    yield transcript


@dataclass(frozen=True, slots=True)
class Naming:
    """Names that a source may lack.

    Attributes:
        system: name of the system if the source does not say it.
        speaker: the speaker whose lines are the system's, in formats with speakers instead of roles; None
            for the one who speaks second.
    """

    system: str | None = None
    speaker: str | None = None
