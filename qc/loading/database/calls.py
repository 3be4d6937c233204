"""Read the models that answered for each system from the view of calls."""

import numpy as np
import pandas as pd

from qc.loading.database.views import BOT_CALL, Views
from qc.run import SERVED_BY, SERVED_COLUMNS


def served(
    views: Views, run_id: object, conversations: pd.DataFrame, systems: pd.Series
) -> pd.DataFrame | None:
    """Return what answered for each of `systems`, as `qc.run.Run` has it; None where nobody told.

    Args:
        views: of the database; those of older servers have no such view.
        run_id: of the run.
        conversations: those that count: `conversation_id`.
        systems: the names of all.
    """
    if not views.has("v1_bot_call"):
        return None
    rows = views.rows("v1_bot_call", BOT_CALL, run_id, optional=BOT_CALL)
    rows = rows[rows["conversation_id"].isin(conversations["conversation_id"])]
    rows = rows[rows["system"].isin(systems)]
    if rows.empty:
        return None
    numbers = rows[["tokens_in", "tokens_out", "cost", "queued_ms", "computed_ms"]].astype(np.float64)
    known = rows[list(SERVED_BY)].astype(object).where(rows[list(SERVED_BY)].notna(), "")
    calls = pd.concat([known, numbers], axis=1).assign(
        failed=rows["failure"].notna(),
        replica=rows["replica"],
        at=pd.to_datetime(rows["created_at"], utc=True, format="ISO8601"),
    )
    groups = calls.groupby(list(SERVED_BY), sort=False)
    table = groups.agg(
        calls=("failed", "size"),
        failed=("failed", "sum"),
        replicas=("replica", "nunique"),
        tokens_in=("tokens_in", "mean"),
        tokens_out=("tokens_out", "mean"),
        cost=("cost", _total),
        queued_ms=("queued_ms", "median"),
        computed_ms=("computed_ms", "median"),
        first=("at", "min"),
        last=("at", "max"),
    ).reset_index()
    order = table["system"].map({name: at for at, name in enumerate(systems)})
    table = table.assign(order=order).sort_values(["order", "first"], kind="stable", ignore_index=True)
    times = {name: table[name].dt.strftime("%Y-%m-%d %H:%M:%S") for name in ("first", "last")}
    found: pd.DataFrame = table.assign(**times)[SERVED_COLUMNS]
    return found


def _total(costs: pd.Series) -> float:
    return float(costs.sum(min_count=1))
