"""Read ratings of single replies and the scenarios of conversations from their views."""

import pandas as pd

from qc.errors import Problem
from qc.loading.asked import TURN_COLUMNS
from qc.loading.database.values import located, numbers
from qc.loading.database.views import SCENARIO, TURN_RATING, Views


def scenarios(views: Views, run_id: object, rated: pd.DataFrame) -> pd.Series | None:
    """Return the scenario of each conversation of `rated`; None where the run has none.

    Databases of older servers have no such view, and their studies no scenarios.
    """
    if not views.has("v1_scenario"):
        return None
    rows = views.rows("v1_scenario", SCENARIO, run_id)
    if rows.empty:
        return None
    found = rated["conversation_id"].map(rows.set_index("conversation_id")["scenario"])
    return found.reset_index(drop=True).astype(object)


def turn_ratings(
    views: Views, run_id: object, rated: pd.DataFrame, problems: list[Problem]
) -> pd.DataFrame | None:
    """Return the ratings of replies in the conversations of `rated`; None where there is none in the run."""
    rows = views.of_conversations("v1_turn_rating", TURN_RATING, run_id, rated)
    if rows is None:
        return None
    where = located("conversation", rows["conversation_id"])
    found: pd.DataFrame = rows.assign(
        turn=numbers(rows["turn_index"], where, "the line of a rated reply", problems).fillna(0),
        value=numbers(rows["value"], where, "the rating of a reply", problems),
    )
    return found[TURN_COLUMNS]
