"""An item of a transcript study: a finished conversation, or a text, that workers read and rate."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

# How an item stands in an assignment: by itself, distorted, shown once more, or in its reference's words
# (Ji, PhD thesis, chapters 3 and 4). No worker is told which is which.
ItemKind = Literal["ordinary", "bad", "repeat", "reference"]


class _Shown(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ItemLine(_Shown):
    """A line of a conversation: the person's who chatted, or the chatbot's that is judged."""

    author: Literal["worker", "bot"]
    text: str


class ItemTopic(_Shown):
    """A topic of a conversation, recorded before its line number `line`, counted from 0."""

    line: int
    topic: str


class ItemContent(_Shown):
    """What a worker is shown of an item.

    A conversation has `lines`, and `topics` where they were recorded. A text has `text`. `context` is what
    the system was given, such as the passage that is to be summed up.
    """

    context: str | None = None
    text: str | None = None
    lines: tuple[ItemLine, ...] = ()
    topics: tuple[ItemTopic, ...] = ()
