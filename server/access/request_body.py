"""Request bodies of the researcher's API."""

from pydantic import BaseModel, ConfigDict


class RequestBody(BaseModel):
    """What a call sends. A field that is not known is refused, and not passed over."""

    model_config = ConfigDict(extra="forbid", frozen=True)
