"""Read the ratings of a transcript run from the views of its items."""

import pandas as pd

from qc.errors import Problem
from qc.loading.database.values import located, numbers
from qc.loading.database.views import ITEM_EDIT, ITEM_RATING, Views
from qc.loading.items import ITEM_COLUMNS
from qc.loading.raw_run import row_problems

KEY = ["assignment_id", "position"]


def item_ratings(views: Views, run_id: object, problems: list[Problem]) -> pd.DataFrame:
    """Return the ratings of items, one row per item and criterion, with their location `where`."""
    rows = views.rows("v1_item_rating", ITEM_RATING, run_id)
    where = located("assignment", rows["assignment_id"]) + ", position " + rows["position"].map(str)
    return rows.assign(
        where=where,
        position=numbers(rows["position"], where, "the position", problems).fillna(1),
        twin_of=_known_numbers(rows["twin_of"], where, "twin_of", problems),
    )


def presented(rows: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each item shown to a worker, with the columns of a conversation."""
    first = rows.drop_duplicates(KEY).reset_index(drop=True)
    return first.assign(
        conversation=first["assignment_id"] + "/" + first["position"].map("{:g}".format), persona=None
    )


def items(views: Views, run_id: object, rated: pd.DataFrame, problems: list[Problem]) -> pd.DataFrame:
    """Return the items of the rows of `rated`, with the columns of `qc.loading.items`."""
    outputs = rated["source_conversation_id"].where(rated["source_conversation_id"].notna(), rated["item_id"])
    found = rated.assign(
        item=rated["item_id"], output=outputs, edit_share=_edit_shares(views, run_id, rated, problems)
    )
    return found[ITEM_COLUMNS]


def item_systems(rated: pd.DataFrame) -> pd.DataFrame:
    """Return the systems of the rated items; the view does not say which had a persona."""
    systems = rated[["system", "family"]].drop_duplicates("system").sort_values("system", ignore_index=True)
    return systems.assign(has_persona=False, is_qc=False)


def ratings_of_items(
    rows: pd.DataFrame, rated: pd.DataFrame, labels: pd.Series, problems: list[Problem]
) -> pd.DataFrame:
    """Return the ratings: one row for each of `rated`, one column per rated criterion."""
    rows = rows.reset_index(drop=True)
    what = [f"the rating of {label!r}" for label in rows["criterion"]]
    values = numbers(rows["value"], rows["where"], what, problems)
    again = rows.duplicated([*KEY, "criterion"])
    problems += row_problems(
        again, rows["where"], lambda row: f"{rows['criterion'].iloc[row]!r} is rated twice."
    )
    columns = labels.to_list() + sorted(set(rows["criterion"]) - set(labels))
    given = rows.assign(value=values)[~again].pivot(index=KEY, columns="criterion", values="value")
    table = given.reindex(pd.MultiIndex.from_frame(rated[KEY]), columns=columns)
    return table.reset_index(drop=True).rename_axis(columns=None)


def _edit_shares(views: Views, run_id: object, rated: pd.DataFrame, problems: list[Problem]) -> pd.Series:
    """Return the edited words over the length of each item of `rated`; NaN if it was not edited."""
    edits = views.rows("v1_item_edit", ITEM_EDIT, run_id)
    where = located("assignment", edits["assignment_id"]) + ", position " + edits["position"].map(str)
    edits = edits.assign(
        position=numbers(edits["position"], where, "the position", problems),
        edit_share=_known_numbers(edits["edit_share"], where, "edit_share", problems),
    )
    shares = edits.drop_duplicates(KEY).set_index(KEY)["edit_share"]
    return shares.reindex(pd.MultiIndex.from_frame(rated[KEY])).reset_index(drop=True)


def _known_numbers(values: pd.Series, where: pd.Series, what: str, problems: list[Problem]) -> pd.Series:
    """Return `values` as floats; NaN if missing."""
    known = values.notna()
    found = numbers(values[known], where[known], what, problems)
    return found.reindex(values.index)
