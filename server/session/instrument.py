"""The instrument: what workers are asked, in the words of METHOD section 1."""

from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints

Label = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$", max_length=40)]
Statement = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2_000)]


class Opinion(StrEnum):
    """What somebody thinks of a topic."""

    LIKE = "like"
    AMBIVALENT = "ambivalent"
    DISLIKE = "dislike"


class TopicChangeKind(StrEnum):
    """How a topic changed: the five kinds of the instrument (METHOD section 1.4)."""

    BOT_CHANGE = "bot change"
    USER_CHANGE_LAST = "user change last"
    USER_CHANGE_NEXT = "user change next"
    USER_WANTS_BOT_CHANGE = "user wants bot change"
    NO_CHANGE = "no change"


class Criterion(BaseModel):
    """A statement that workers rate from 0 to 100 (METHOD section 1).

    `negative`: agreement speaks against the system. `qc`: counts for the worker filter.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    label: Label
    statement: Statement
    negative: bool = False
    qc: bool = True
