"""Rating model fitted by `candor plan workers --model`, for simulated workers that rate like real ones."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bots.core.mistakes import mistakes
from candor.common.files import read_file

Points = Annotated[float, Field(ge=-1000, le=1000, strict=True)]
Spread = Annotated[float, Field(ge=0, le=1000, strict=True)]
Name = Annotated[str, Field(max_length=1000)]


class ModelRefused(Exception):
    """The file is not a rater model. The message says why, and what to do."""


class FittedRaterModel(BaseModel):
    """A model of workers' ratings, in points from 0 to 100, before they are cut off at both ends.

    `systems`: by name, the mean rating on each criterion, by label. A high number is good, even on a negative
    criterion; the quality-control bot is `qc`. `worker_sd`, `conversation_sd`, `rating_sd`: standard
    deviations of a worker's bias, of a conversation's effect, and of noise. `random_share`: share of workers
    who rate at random.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    format: Literal["candor-rater-model"]
    version: Literal[1]
    systems: Annotated[
        dict[Name, Annotated[dict[Name, Points], Field(max_length=100)]], Field(max_length=500)
    ]
    worker_sd: Spread
    conversation_sd: Spread
    rating_sd: Spread
    random_share: Annotated[float, Field(ge=0, le=1, strict=True)]

    def deserved(self, system: str, criterion: str) -> float | None:
        """Return a system's mean rating on a criterion; None if the run did not have both."""
        return self.systems.get(system, {}).get(criterion)


def read_rater_model(path: Path) -> FittedRaterModel:
    """Read a rater model from a file. Raises ModelRefused."""
    try:
        return FittedRaterModel.model_validate_json(read_file(path))
    except OSError as error:
        raise ModelRefused(f"{path} cannot be read: {error.strerror}. Check the path.") from error
    except ValidationError as error:
        raise ModelRefused(
            f"{path} is not a rater model: {mistakes(error)}. Give a file of `candor plan workers --model`."
        ) from error
