"""Base class for the objects in a file: unknown fields are refused."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Round = Annotated[int, Field(ge=0, lt=2**31)]


class StrictModel(BaseModel):
    """An object whose values have the types that belong there, none converted, and no infinite number."""

    model_config = ConfigDict(strict=True, allow_inf_nan=False)
