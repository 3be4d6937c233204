"""Count the incidents of each system (failures, late and revealing replies), and the models that answered.

Only rated conversations enter the scores, so a system that fails in hard conversations looks better than it
is. And workers who can tell systems apart by their speed, or by what they call themselves, do not rate
blindly. So all conversations that people began count here, analysed or not.
"""

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from qc.run import WRONG, Run
from qc.table import listed, percent, whole


# A service may replace a model under the same name. The scores of a system are then of two models, and
# readers must know.
@dataclass(frozen=True)
class Served:
    """The models that answered for each system, with notes for readers.

    Attributes:
        table: `Run.served`.
        notes: sentences.
    """

    table: pd.DataFrame
    notes: tuple[str, ...]


def describe_served(run: Run) -> Served | None:
    """Return the models that answered for each system; None if the source of the run does not say."""
    return None if run.served is None else Served(run.served, tuple(_served_notes(run.served)))


def _served_notes(table: pd.DataFrame) -> Iterator[str]:
    for system, rows in table.groupby("system", sort=False):
        models = rows.drop_duplicates(["model", "revision"])
        if len(models) > 1:
            since = [f"{_name(row)} from {row['first']} UTC on" for row in models.to_dict("records")]
            yield (
                f"The model of {system} changed in the midst of the run, so that its scores are of several: "
                f"{listed(since)}."
            )
        if rows["sampling"].nunique() > 1:
            yield f"The settings by which {system} was asked changed in the midst of the run."


def _name(row: dict[Hashable, Any]) -> str:
    return " ".join(part for part in (row["model"], row["revision"]) if part) or "a model without a name"


MANY_OVERRUNS = 0.05  # share of a system's replies; fewer late replies reveal hardly anything


@dataclass(frozen=True)
class Incidents:
    """Incidents of each system, with notes for readers.

    Attributes:
        table: the columns of `Run.incidents`, and, each after its count, `failed_share` (of conversations),
            `overran_share` and `offensive_share` (of replies), `offensive_inputs_share` (of inputs),
            `flagged_share` and `flagged_inputs_share` (of those judged); NaN if the denominator is 0.
        notes: sentences.
    """

    table: pd.DataFrame
    notes: tuple[str, ...]

    @property
    def any(self) -> bool:
        """Whether there was any incident."""
        return bool((self.table[list(WRONG)].fillna(0) > 0).any(axis=None))


def describe_incidents(run: Run) -> Incidents | None:
    """Return the incidents of each system; None if the source of the run does not say."""
    if run.incidents is None:
        return None
    table = run.incidents.copy()
    table.insert(3, "failed_share", _share(table["failed"], table["conversations"]))
    if table["overran"].notna().all():
        table["overran"] = table["overran"].astype(np.int64)
    table.insert(7, "overran_share", _share(table["overran"], table["replies"]))
    table.insert(10, "offensive_share", _share(table["offensive"], table["replies"]))
    table.insert(13, "offensive_inputs_share", _share(table["offensive_inputs"], table["inputs"]))
    for lines in ("", "_inputs"):
        share = _share(table[f"flagged{lines}"], table[f"judged{lines}"])
        table.insert(list(table).index(f"flagged{lines}") + 1, f"flagged{lines}_share", share)
    return Incidents(table, tuple(_notes(table)))


def _share(part: pd.Series, of: pd.Series) -> pd.Series:
    return part.astype(np.float64) / of.where(of > 0)


def _notes(table: pd.DataFrame) -> Iterator[str]:
    if late := _above(table, "overran_share", MANY_OVERRUNS, percent):
        yield (
            "Replies often came later than the time drawn for them, so that workers may have told systems "
            f"apart by their pace: {late}."
        )
    if offensive := _above(table, "offensive", 0, whole):
        yield f"Replies with words of the list of offensive ones, in brackets how many: {offensive}."
    if flagged := _above(table, "flagged", 0, whole):
        yield f"Replies that the moderation service flags, in brackets how many: {flagged}."
    if reported := _above(table, "reported", 0, whole):
        yield f"Messages that workers have reported, in brackets how many: {reported}."
    if given_away := _above(table, "gave_away", 0, whole):
        yield f"Replies by which a system gave itself away as a machine or by name: {given_away}."


def _above(table: pd.DataFrame, column: str, limit: float, text: Callable[[float], str]) -> str:
    """List the systems whose value in `column` is above `limit`, with the value; "" if there are none."""
    many = table.loc[table[column] > limit, ["system", column]]
    return listed([f"{system} ({text(value)})" for system, value in many.itertuples(index=False)])
