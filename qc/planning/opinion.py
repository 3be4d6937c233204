"""The judgments for a comparison of systems: of one criterion, or the mean of several."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.errors import EmptyRunError, OptionError, joined
from qc.judgments import Judgments
from qc.run import codes
from qc.table import OVERALL, counted

FEWEST_JUDGMENTS = 2


@dataclass(frozen=True)
class SystemOpinion:
    """Judgments of S systems by people; K judgments, N outputs. An output of two systems counts for both.

    Attributes:
        criterion: the judged criterion; OVERALL for the mean of the criteria of each judgment.
        systems: names, in alphabetical order, of systems with at least two judgments.
        values: (K,), higher is better.
        system_codes: (K,), into `systems`.
        outputs: (K,), codes from 0, rows of the pool.
        workers: (K,), codes from 0; None if the source does not say who judged.
        positions: (K,), position of the judgment in its worker's sequence, from 1; NaN if unknown.
        items: (K,), codes from 0, of the inputs that outputs of several systems share.
        pool: (N, S), whether an output of the pool belongs to a system.
        metrics: N rows, a float column for each metric, higher is better; NaN for a missing value.
        notes: sentences that a reader of the results must see.
    """

    criterion: str
    systems: tuple[str, ...]
    values: NDArray[np.float64]
    system_codes: NDArray[np.intp]
    outputs: NDArray[np.intp]
    workers: NDArray[np.intp] | None
    positions: NDArray[np.float64]
    items: NDArray[np.intp]
    pool: NDArray[np.bool_]
    metrics: pd.DataFrame
    notes: tuple[str, ...]


def opinion(
    judgments: Judgments,
    criterion: str | None = None,
    *,
    z: bool = False,
    reverse: frozenset[str] = frozenset(),
) -> SystemOpinion:
    """Select the judgments for a comparison of the systems.

    Args:
        judgments: all judgments of a source.
        criterion: the criterion to use; None for the only one, or for OVERALL if there is such a criterion,
            or else for the mean of the criteria of each judgment.
        z: use judgments standardised per worker.
        reverse: metrics, or the criterion, where lower is better.

    Raises:
        OptionError: there is no such criterion, or no such name to reverse.
        EmptyRunError: fewer than two systems have been judged twice.
    """
    rows, name, notes = _rows(judgments, criterion)
    _require_known(reverse, (*judgments.metrics.columns, name))
    column = rows["z"] if z else rows["value"]
    rows = rows[column.notna()]
    values = column[column.notna()].to_numpy(np.float64) * (-1 if name in reverse else 1)
    at, of_system = np.nonzero(judgments.belongs[rows["output"].to_numpy(np.intp)])
    counts = np.bincount(of_system, minlength=len(judgments.systems))
    kept = [i for i in np.argsort(judgments.systems) if counts[i] >= FEWEST_JUDGMENTS]
    if len(kept) < 2:
        raise EmptyRunError(
            f"{judgments.source}: fewer than two systems have two judgments of {name!r} or more, so nothing "
            "can be compared. Add judgments, or name another --criterion."
        )
    places = np.full(len(judgments.systems), -1)
    places[kept] = np.arange(len(kept))
    taken = places[of_system] >= 0
    at, of_system = at[taken], places[of_system[taken]]
    workers = codes(rows["worker"])[at]
    outputs = rows["output"].to_numpy(np.intp)[at]
    return SystemOpinion(
        criterion=name,
        systems=tuple(judgments.systems[i] for i in kept),
        values=values[at],
        system_codes=of_system,
        outputs=outputs,
        workers=None if (workers < 0).any() else np.unique(workers, return_inverse=True)[1],
        positions=rows["position"].to_numpy(np.float64)[at],
        items=pd.factorize(judgments.outputs["item"])[0].astype(np.intp)[outputs],
        pool=judgments.belongs[:, kept],
        metrics=judgments.metrics.assign(
            **{metric: -judgments.metrics[metric] for metric in reverse & set(judgments.metrics)}
        ),
        notes=(*judgments.notes, *notes),
    )


def _require_known(reverse: frozenset[str], known: tuple[str, ...]) -> None:
    unknown = sorted(reverse - set(known))
    if unknown:
        raise OptionError(
            f"--lower-is-better names {', '.join(unknown)}, but there are: {joined(list(map(str, known)))}."
        )


def _rows(judgments: Judgments, criterion: str | None) -> tuple[pd.DataFrame, str, tuple[str, ...]]:
    """Return the selected judgments, the name of their criterion, and notes."""
    known = judgments.criteria
    if criterion is None:
        criterion = known[0] if len(known) == 1 else OVERALL
    if criterion in known:
        return judgments.rows[judgments.rows["criterion"] == criterion], criterion, ()
    if criterion != OVERALL:
        raise OptionError(f"--criterion is {criterion!r}, but there are: {joined(known)}, {OVERALL}.")
    rows, lost = _means_of_criteria(judgments.rows, len(known))
    notes = [f"{OVERALL} is the mean of a judgment's criteria: {joined(known)}."]
    if lost:
        notes.append(f"Left out, not judged on every criterion: {counted(lost, 'judgment')}.")
    return rows, OVERALL, tuple(notes)


def _means_of_criteria(rows: pd.DataFrame, criteria: int) -> tuple[pd.DataFrame, int]:
    """Return the mean over criteria of each complete judgment, and the number of incomplete ones.

    The values of one worker for an output form one judgment. For unknown workers, the first values on all
    criteria form one judgment, then the second values, and so on.
    """
    worker = codes(rows["worker"])
    keyed = rows.assign(who=worker)
    nth = keyed.groupby(["output", "who", "criterion"], observed=True).cumcount()
    grouped = keyed.assign(nth=nth).groupby(["output", "who", "nth"], sort=True)
    means = grouped[["value", "z", "position"]].sum(min_count=criteria) / criteria
    complete = grouped.size() == criteria
    found = means[complete].reset_index()
    categories = rows["worker"].cat.categories
    found["worker"] = pd.Categorical.from_codes(found["who"].to_numpy(), categories=categories)
    return found, int((~complete).sum())
