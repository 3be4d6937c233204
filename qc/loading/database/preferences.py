"""Read the preferences of a comparison run from the views."""

import pandas as pd

from qc.errors import DataError, Problem
from qc.loading.database.participation import exclusions, taking_part
from qc.loading.database.values import flags, located, numbers
from qc.loading.database.views import ASSIGNMENT, CHOICE, SYSTEM, Views, task_of
from qc.loading.load_options import LoadOptions


def preferences(
    views: Views, run_id: object, options: LoadOptions
) -> tuple[pd.DataFrame, pd.DataFrame, bool, list[str]] | None:
    """Return the choices of a run, its systems, whether it has ratings too, and notes.

    Return None if its workers did not compare; older databases have no such runs.

    Raises:
        SourceError: a view cannot be read.
        DataError: a value is invalid.
    """
    if task_of(views, run_id) != "side_by_side":
        return None
    problems: list[Problem] = []
    rows = views.rows("v1_choice", CHOICE, run_id)
    where = located("assignment", rows["assignment_id"])
    rows = rows.assign(
        where=where,
        pair=numbers(rows["pair"], where, "the pair", problems),
        turn=numbers(rows["turn_index"], where, "the turn", problems),
    )
    assignments = views.rows("v1_assignment", ASSIGNMENT, run_id)
    whose = located("assignment", assignments["assignment_id"])
    assignments = assignments.assign(
        where=whose,
        simulated=flags(assignments["simulated"], whose, problems),
        excluded=exclusions(views, run_id, assignments["assignment_id"]),
    )
    kept, _, notes = taking_part(assignments, rows, options.include_partial, only_simulated=options.simulated)
    systems = views.rows("v1_system", SYSTEM, run_id)
    systems = systems.assign(is_qc=flags(systems["is_qc"], located("system", systems["system"]), problems))
    rated = not views.rows("v1_criterion", ("label",), run_id).empty
    if problems:
        raise DataError(views.source, problems)
    rows = rows[rows["assignment_id"].isin(kept["assignment_id"])]
    names = {"assignment_id": "assignment", "left_system": "left", "right_system": "right"}
    rows = rows.rename(columns=names).astype({"pair": int, "turn": int})
    return rows, systems.astype({"is_qc": bool}), rated, list(notes)
