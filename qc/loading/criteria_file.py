"""Read an analyst's file with the criteria to analyse (`--criteria-file`).

criteria:
  - label: fun
  - label: robotic
    negative: true          # default: false
    counts_for_qc: false    # default: true
    maximum: 5              # default: 100, the upper end of the scale
"""

from pathlib import Path
from typing import Annotated

import pandas as pd
import yaml
from pydantic import Field

from candor.common.files import read_file, read_yaml
from qc.errors import DataError, Problem, SourceError
from qc.formats.published import MAXIMUM, StrictModel
from qc.loading.raw_run import CRITERION_COLUMNS, RENAME, RESERVED
from qc.loading.validation import validated
from qc.run import RESERVED_LABELS

SHAPE = "Give a list `criteria` of objects with label, negative, counts_for_qc and maximum."


class _Criterion(StrictModel, extra="forbid"):
    label: Annotated[str, Field(min_length=1)]
    negative: bool = False
    counts_for_qc: bool = True
    maximum: Annotated[float, Field(gt=0)] = MAXIMUM


class _File(StrictModel, extra="forbid"):
    criteria: Annotated[list[_Criterion], Field(min_length=1)]


def read(path: Path) -> pd.DataFrame:
    """Return the criteria in the file at `path`, in its order, with the columns of `Run.criteria`.

    Raises:
        SourceError: the file cannot be read.
        DataError: it is not YAML, a field is unknown, missing or of the wrong type, a label is repeated or
            is one of RESERVED_LABELS.
    """
    problems: list[Problem] = []
    declared = validated(_File, _content(path), "the file", SHAPE, problems)
    if declared is not None:
        labels = [criterion.label for criterion in declared.criteria]
        problems += [*_repeated(labels), *_reserved(labels)]
    if declared is None or problems:
        raise DataError(str(path), problems)
    return pd.DataFrame([one.model_dump() for one in declared.criteria], columns=CRITERION_COLUMNS)


def _content(path: Path) -> object:
    try:
        return read_yaml(read_file(path))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise SourceError(f"{path}: the criteria file cannot be read ({reason}). Check the path.") from None
    except yaml.YAMLError as error:
        raise DataError(str(path), [Problem("the file", f"is not YAML ({error}).", SHAPE)]) from None


def _repeated(labels: list[str]) -> list[Problem]:
    return [
        Problem(
            f"criteria[{index}].label",
            f"{label!r} is already given at criteria[{labels.index(label)}].",
            "Keep one of the two.",
        )
        for index, label in enumerate(labels)
        if labels.index(label) < index
    ]


def _reserved(labels: list[str]) -> list[Problem]:
    return [
        Problem(f"criteria[{index}].label", f"{label!r} {RESERVED}", RENAME)
        for index, label in enumerate(labels)
        if label in RESERVED_LABELS
    ]
