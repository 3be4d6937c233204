"""Read how messages were written from its view: the sums of each conversation."""

import pandas as pd

from qc.errors import Problem
from qc.loading.asked import WRITING_COLUMNS
from qc.loading.database.values import located, numbers
from qc.loading.database.views import WRITING, Views
from qc.run import OF_AN_INPUT, WRITING_NUMBERS


def writing(
    views: Views, run_id: object, rated: pd.DataFrame, problems: list[Problem]
) -> pd.DataFrame | None:
    """Return how the inputs of the conversations of `rated` were written; None where nothing was recorded.

    Databases of older servers have no such view.
    """
    if not views.has("v1_writing"):
        return None
    rows = views.rows("v1_writing", WRITING, run_id)
    if rows.empty:
        return None
    row = pd.Index(rated["conversation_id"]).get_indexer(rows["conversation_id"])
    where = located("conversation", rows["conversation_id"])
    typed = {
        name: numbers(rows[name], where, f"how a line was written, {name},", problems).fillna(0)
        for name in OF_AN_INPUT
    }
    of_inputs = rows.assign(**typed, conversation=row, inputs=1)[row >= 0]
    how = dict.fromkeys(WRITING_NUMBERS, "sum") | {"longest_pause_ms": "max"}
    found: pd.DataFrame = of_inputs.groupby("conversation", as_index=False).agg(how)
    return found[WRITING_COLUMNS]
