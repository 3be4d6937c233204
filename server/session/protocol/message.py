"""Base class of messages on the wire."""

from dataclasses import dataclass
from typing import TypeVar, dataclass_transform

from pydantic import BaseModel, ConfigDict, with_config

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
