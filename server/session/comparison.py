"""Side by side: how two hidden systems that answer the same input are compared."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

# Where a conversation stands on the worker's page, and what the worker may say of the two.
Side = Literal["left", "right"]
Preference = Literal["left", "right", "tie"]
Asked = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=300)]


def number_on_page(position: int, side: Side | None) -> int:
    """Return a conversation's number as its worker counts, from 1: two beside each other are one."""
    return position if side is None else (position + 1) // 2


class Comparison(BaseModel):
    """How workers compare. `pairs`: of systems, in one assignment; those with the qc bot come on top.

    `choose`: once, of the two whole conversations (`end`), or after each pair of replies (`turn`).
    `history`: what the two systems are told of what was said. Each its `own` replies; or, where workers
    choose after each turn, the `chosen` ones, so that there is one conversation. `ties`: workers may find
    both about the same. `question`: what is asked, in place of the words of the study's language.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    pairs: Annotated[int, Field(ge=1, le=20, strict=True)] = 3
    choose: Literal["end", "turn"] = "end"
    history: Literal["own", "chosen"] = "own"
    ties: bool = True
    question: Asked | None = None
