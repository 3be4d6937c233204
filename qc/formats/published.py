"""Constants and strict models of the published formats (Ji et al., ACL 2022), and of the server's views.

The server writes it (`candor data export --format jsonl`, …). Its header is the first line of
JSON Lines, and the member `HEADER` of an archive. In JSON Lines each further line is a row, and `view` names
its view.
"""

import re
from typing import Annotated, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

Round = Annotated[int, Field(ge=0, lt=2**31)]
FactValue = str | bool | float  # a value of `facts`, which the server adds to conversations


class StrictModel(BaseModel):
    """A model with strict types: no value is converted, and no number is infinite."""

    model_config = ConfigDict(strict=True, allow_inf_nan=False)


# The instrument in the order of the seven numbers of an MTurk `scoreN`: label, negative, counts for qc.
INSTRUMENT = (
    ("robotic", True, False),
    ("interesting", False, True),
    ("fun", False, True),
    ("consistent", False, True),
    ("fluent", False, True),
    ("repetitive", True, False),
    ("topic", False, True),
)
MAXIMUM = 100.0
ANSWER = "Answer.taskAnswers"  # the column of MTurk that holds an assignment's answer, as JSON

PERSONA_SUFFIX = "_p"  # name suffix of a system with a persona; the rest of its name is its family
QC_TASK = "qc"
LAST_PERSONA_SEED = 500  # MTurk seeds up to this one spoke with a persona
NO_FEEDBACK = "None"

# Texts in hits_data.json for the kinds of topic change.
ACTIONS = {
    "bot change": "The chatbot changed the topic.",
    "user change last": "The user changed the topic the last input.",
    "user change next": "The user will change the topic in the next input.",
    "user wants bot change": "The user wants the bot to change the topic.",
    "no change": "No topic change.",
}


def systems_named(names: pd.Series, is_qc: NDArray[np.bool_]) -> pd.DataFrame:
    """Return the columns of `Run.systems`, with family and persona derived from the name."""
    has_persona = names.str.endswith(PERSONA_SUFFIX) & ~is_qc
    family = names.mask(has_persona, names.str.removesuffix(PERSONA_SUFFIX))
    return pd.DataFrame({"system": names, "family": family, "has_persona": has_persona, "is_qc": is_qc})


def beginning(name: str) -> re.Pattern[bytes]:
    """Return a pattern for the first bytes of JSON whose first field is `"format": name`."""
    return re.compile(rb'\s*\{\s*"format"\s*:\s*"' + name.encode() + rb'"')


FORMAT = "candor-views"
VERSION = 1
HEADER = "header.json"
PEEKED = 64  # number of bytes to check for BEGINNING
BEGINNING = beginning(FORMAT)

Kind = Literal["text", "integer", "number", "flag", "time"]
Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$")]


class ExportedView(StrictModel):
    """Number of rows of a view, and the types of its columns."""

    rows: Annotated[int, Field(ge=0)]
    columns: Annotated[dict[Name, Kind], Field(min_length=1)]


class ViewsHeader(StrictModel):
    """Content of the file; the counts detect a file that was cut short."""

    format: str = FORMAT
    version: int = VERSION
    run: str
    study: str
    views: dict[Name, ExportedView]
