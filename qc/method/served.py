"""Models that answered for each system, and changes of a model during the run.

A service may exchange a model behind its name. Then the scores of a system are of two models, and whoever
reads them has to know.
"""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd

from qc.number_format import listed
from qc.run import Run


@dataclass(frozen=True)
class Served:
    """What answered for each system, and sentences on what a reader must know of it.

    Attributes:
        table: `Run.served`.
        notes: sentences.
    """

    table: pd.DataFrame
    notes: tuple[str, ...]


def describe_served(run: Run) -> Served | None:
    """Return what answered for each system; None if the source of the run does not say."""
    return None if run.served is None else Served(run.served, tuple(_notes(run.served)))


def _notes(table: pd.DataFrame) -> Iterator[str]:
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
