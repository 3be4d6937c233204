"""Choose one of the runs of a database."""

import pandas as pd

from qc.errors import RunChoiceError, joined
from qc.loading.database.views import RUN, Views

REHEARSAL = "rehearsal"


def is_run(views: Views, name: str) -> bool:
    """Return whether there is a run with the slug or id `name`."""
    return not _named(_runs(views), name).empty


def choose(views: Views, wanted: str | None, option: str) -> tuple[object, str]:
    """Return the id, as stored in the database, and the slug of the run `wanted`.

    Args:
        views: the views of the database.
        wanted: slug or id; None for the only run that is not a rehearsal.
        option: command-line option that chooses a run; for messages.

    Raises:
        RunChoiceError: there is no such run, or more than one.
    """
    runs = _runs(views)
    if wanted is None:
        runs = runs[runs["kind"] != REHEARSAL]
    names = joined(runs["run"].to_list())
    if runs.empty:
        raise RunChoiceError(f"{views.source}: the database holds no run yet. Start one first.")
    if wanted is None and len(runs) > 1:
        raise RunChoiceError(
            f"{views.source}: the database holds {len(runs)} runs. Choose one with {option}: {names}."
        )
    chosen = runs if wanted is None else _named(runs, wanted)
    if chosen.empty:
        raise RunChoiceError(f"{views.source}: there is no run {wanted!r}. The database holds: {names}.")
    if len(chosen) > 1:
        ids = joined(chosen["id_text"].to_list())
        raise RunChoiceError(
            f"{views.source}: several runs are called {wanted!r}. Name one by its id: {ids}."
        )
    return chosen["run_id"].iloc[0], chosen["run"].iloc[0]


def is_rehearsal(views: Views, run_id: object) -> bool:
    """Return whether a run is a rehearsal: simulated workers who tried the study out."""
    runs = _runs(views)
    return bool((runs.loc[runs["run_id"] == run_id, "kind"] == REHEARSAL).any())


def _runs(views: Views) -> pd.DataFrame:
    """Return the runs; databases of older servers do not store the kind of a run."""
    has_kinds = "kind" in views.columns("v1_run")
    rows = views.rows("v1_run", (*RUN, "kind") if has_kinds else RUN)
    if not has_kinds:
        rows = rows.assign(kind="study")
    return rows.assign(id_text=rows["run_id"].map(str)).sort_values(["run", "id_text"])


def _named(runs: pd.DataFrame, name: str) -> pd.DataFrame:
    return runs[(runs["run"] == name) | (runs["id_text"] == name)]
