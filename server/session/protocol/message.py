"""Base class of messages on the wire."""

from dataclasses import dataclass
from typing import TypeVar, dataclass_transform

from pydantic import BaseModel, ConfigDict, with_config

_T = TypeVar("_T")
_CONFIG = ConfigDict(extra="forbid", frozen=True)


class Message(BaseModel):
    """A message, or a part of one: nothing else is in it, and nothing of it changes."""

    model_config = _CONFIG


@dataclass_transform(frozen_default=True, kw_only_default=True)
def turn_message(cls: type[_T]) -> type[_T]:
    """Make a class a message of the server's that every turn has: not checked, as the server writes it.

    It is made in a third of the time that a model takes. That nothing of it changes is for the type checker
    to see: a dataclass that looks to it by itself takes nearly as long as a model.
    """
    return with_config(_CONFIG)(dataclass(kw_only=True)(cls))
