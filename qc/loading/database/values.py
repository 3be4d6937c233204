"""Convert values of the database to flags, numbers and times; an invalid value becomes a problem."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from qc.errors import Problem, quoted
from qc.loading.raw_run import row_problems

_FLAGS = {"0": False, "1": True, "false": False, "true": True, "f": False, "t": True}


def located(kind: str, names: pd.Series) -> pd.Series:
    """Return the location of each of `names`, worded for a problem."""
    return f"{kind} " + names


def flags(values: pd.Series, where: pd.Series, problems: list[Problem]) -> pd.Series:
    """Return `values` as booleans; False for an invalid value."""
    given = values.map(lambda value: _FLAGS.get(str(value).lower()))
    problems += row_problems(
        given.isna(), where, lambda row: f"{values.name} is {quoted(values.iloc[row])}, not 0 or 1."
    )
    return given.eq(True)


def numbers(
    values: pd.Series, where: pd.Series, what: Sequence[str] | str, problems: list[Problem]
) -> pd.Series:
    """Return `values` as floats, NaN for an invalid value; `what` names them in messages."""
    found = pd.to_numeric(values, errors="coerce").astype(np.float64)

    def why(row: int) -> str:
        name = what if isinstance(what, str) else what[row]
        return f"{name} is {quoted(values.iloc[row])}, which is not a number."

    problems += row_problems(found.isna(), where, why)
    return found


def times(values: pd.Series, where: pd.Series, problems: list[Problem]) -> pd.Series:
    """Return `values` as times in UTC; NaT for a missing or invalid value."""
    found = pd.to_datetime(values.map(str, na_action="ignore"), utc=True, format="ISO8601", errors="coerce")
    problems += row_problems(
        found.isna() & values.notna(),
        where,
        lambda row: f"{values.name} is {quoted(values.iloc[row])}, not a time.",
    )
    return found
