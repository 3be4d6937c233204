"""Constants and strict models of the two published formats of Ji et al. (ACL 2022)."""

from typing import Annotated

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

Round = Annotated[int, Field(ge=0, lt=2**31)]


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
