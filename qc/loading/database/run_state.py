"""Read the state of a run and its reason from the views."""

import pandas as pd

from qc.loading.database.views import RUN_STATE, Views
from qc.run import RunState

_TARGET = "target_"


def run_state(views: Views, run_id: object) -> RunState | None:
    """Return how a run stands; None from the database of an older server, which has no such view."""
    if not views.has("v1_run_state"):
        return None
    limits = [name for name in RUN_STATE if name.startswith(_TARGET)]
    row = views.rows("v1_run_state", RUN_STATE, run_id, optional=limits).iloc[0]
    study = views.rows("v1_run", ("study_hash",), run_id).iloc[0]
    return RunState(
        study_hash=str(study["study_hash"]),
        status=row["status"],
        cause=row["cause"],
        reason=row["reason"],
        target={name.removeprefix(_TARGET): float(row[name]) for name in limits if pd.notna(row[name])},
    )
