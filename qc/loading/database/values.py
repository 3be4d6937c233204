"""Values of the database as flags, numbers and times; each that is none becomes a problem."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from qc.errors import Problem, quoted
from qc.loading.raw_run import row_problems

_FLAGS = {"0": False, "1": True, "false": False, "true": True, "f": False, "t": True}


def located(kind: str, names: pd.Series) -> pd.Series:
    """Return where each of the things called `names` is, as a problem says it."""
    return f"{kind} " + names


def flags(values: pd.Series, where: pd.Series, problems: list[Problem]) -> pd.Series:
    """Return `values` as booleans; False where one is no flag."""
    given = values.map(lambda value: _FLAGS.get(str(value).lower()))
    problems += row_problems(
        given.isna(), where, lambda row: f"{values.name} is {quoted(values.iloc[row])}, not 0 or 1."
    )
    return given.eq(True)


def numbers(
    values: pd.Series, where: pd.Series, what: Sequence[str] | str, problems: list[Problem]
) -> pd.Series:
    """Return `values`, each called as `what` says, as floats; NaN where one is no number."""
    found = pd.to_numeric(values, errors="coerce").astype(np.float64)

    def why(row: int) -> str:
        name = what if isinstance(what, str) else what[row]
        return f"{name} is {quoted(values.iloc[row])}, which is not a number."

    problems += row_problems(found.isna(), where, why)
    return found


def times(values: pd.Series, where: pd.Series, problems: list[Problem]) -> pd.Series:
    """Return `values` as times in UTC; NaT where one is missing or no time."""
    found = pd.to_datetime(values.map(str, na_action="ignore"), utc=True, format="ISO8601", errors="coerce")
    problems += row_problems(
        found.isna() & values.notna(),
        where,
        lambda row: f"{values.name} is {quoted(values.iloc[row])}, not a time.",
    )
    return found
