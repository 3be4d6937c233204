"""An item of a transcript study: a finished conversation, or a text, that workers read and rate."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

from server.session.answer_kinds import ShownTexts

# An item in an assignment may be ordinary, distorted ("bad"), shown again, or replaced by its reference text
# (Ji, PhD thesis, chapters 3 and 4). Workers are never told which it is.
ItemKind = Literal["ordinary", "bad", "repeat", "reference"]


class _Shown(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ItemLine(_Shown):
    """A line of a conversation: by the person who chatted, or by the chatbot that is judged."""

    author: Literal["worker", "bot"]
    text: str


class ItemTopic(_Shown):
    """A topic of a conversation, recorded before its line number `line`, counted from 0."""

    line: int
    topic: str


class Highlight(_Shown):
    """The highlighted part of a context: its characters from `start` to before `end`, in code points."""

    start: int
    end: int


class ItemContent(_Shown):
    """The content of an item, as shown to workers.

    A conversation has `lines`, and `topics` if they were recorded. A text has `text`. `context` is the
    system's input, such as the passage to summarise, with the answer to a question as its `highlight`.
    `paragraphs` may show whether an answer to the question in `context` is correct.
    """

    context: str | None = None
    highlight: Highlight | None = None
    paragraphs: tuple[str, ...] = ()
    text: str | None = None
    lines: tuple[ItemLine, ...] = ()
    topics: tuple[ItemTopic, ...] = ()

    @property
    def shown(self) -> ShownTexts:
        """The texts that workers can mark: the system's text or lines, and the paragraphs or the context."""
        context = () if self.context is None else (self.context,)
        lines = {i: line.text for i, line in enumerate(self.lines) if line.author == "bot"}
        return ShownTexts(
            lines if self.text is None else {0: self.text},
            dict(enumerate(self.paragraphs or context)),
        )
