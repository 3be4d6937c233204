"""What every message on the wire is."""

from pydantic import BaseModel, ConfigDict


class Message(BaseModel):
    """A message, or a part of one: nothing else is in it, and nothing of it changes."""

    model_config = ConfigDict(extra="forbid", frozen=True)
