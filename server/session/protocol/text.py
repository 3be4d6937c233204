"""Base of messages on the wire; limits and normal forms of text, numbers and answers."""

import re
import unicodedata
from dataclasses import dataclass
from typing import Annotated, TypeVar, dataclass_transform

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, with_config

from candor.common.segmentation import MostCharacters
from server.session.answer_kinds import MAX_ANSWER, Mark

# A ticket holds the ids of a worker and of a visit: 200 characters each, of up to four bytes, in base64.
MAX_TOKEN = 4_096
# In characters as readers see them.
MAX_SAY = 1_000
MAX_TOPIC = 200
MAX_FEEDBACK = 5_000
MAX_EDIT = 5_000
MAX_NOTE = 500


# Control characters, lone surrogates, and marks that change the direction of all the text around them.
_UNSPEAKABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0")  # letters and marks that are drawn as nothing


def plain(text: str) -> str:
    """Return `text` without control characters, direction overrides and lone surrogates.

    Line feeds and tabs stay.

    Any text can be stored in this form, and workers' texts need no more: they are data. Texts that bots show
    to workers follow a stricter rule, that of bots' replies.
    """
    if text.isascii() and text.isprintable():  # most text is, and has nothing to remove
        return text.strip()
    return _UNSPEAKABLE.sub("", text).strip()


def _something(text: str) -> str:
    if not ("!" <= text[:1] <= "~" or any(_is_seen(mark) for mark in text)):  # most text begins so
        raise ValueError("the text has no visible characters")
    return text


def _is_seen(mark: str) -> bool:
    """Return whether a character is visible; characters newer than Python's tables count as visible."""
    kind = unicodedata.category(mark)
    return kind not in {"Cc", "Cf", "Cs"} and not kind.startswith("Z") and mark not in _BLANK


MessageId = Annotated[str, StringConstraints(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_-]+$")]
PlainText = AfterValidator(plain)
Said = Annotated[str, MostCharacters(MAX_SAY), PlainText, AfterValidator(_something)]
TopicText = Annotated[str, MostCharacters(MAX_TOPIC), PlainText, AfterValidator(_something)]
Edit = Annotated[str, MostCharacters(MAX_EDIT), PlainText]
AnswerText = Annotated[str, MostCharacters(MAX_ANSWER), PlainText]
# A number, a text, several of the choices, or marks; the session checks which of them a question allows.
GivenAnswer = (
    Annotated[float, Field(strict=True, allow_inf_nan=False)]
    | AnswerText
    | Annotated[tuple[AnswerText, ...], Field(max_length=50)]
    | Annotated[tuple[Mark, ...], Field(max_length=50)]
)
Answers = Annotated[dict[str, GivenAnswer], Field(max_length=100)]
Score = Annotated[int, Field(ge=0, le=100, strict=True)]
ReportNote = Annotated[str, MostCharacters(MAX_NOTE), PlainText]
FeedbackText = Annotated[str, MostCharacters(MAX_FEEDBACK), PlainText]


_T = TypeVar("_T")
_CONFIG = ConfigDict(extra="forbid", frozen=True)


class WireModel(BaseModel):
    """A message, or a part of one. Unknown fields are refused, and values cannot be changed."""

    model_config = _CONFIG


@dataclass_transform(frozen_default=True, kw_only_default=True)
def turn_message(cls: type[_T]) -> type[_T]:
    """Make a class a server's message of every turn: not validated, because the server itself makes it.

    Creating it takes a third of the time that a model takes. Only the type checker enforces that it is
    frozen, because a frozen dataclass takes nearly as long as a model.
    """
    return with_config(_CONFIG)(dataclass(kw_only=True)(cls))
