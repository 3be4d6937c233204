"""Judgments of outputs by workers, and the pool of these outputs.

An *output* is the thing judged: a summary, an answer, a conversation. A *judgment* is one worker's value for
an output on one criterion. The *pool* is the set of all outputs with a metric, judged or not. Source of the
terms: Chaganty, Mussmann and Liang, *The price of debiasing automatic metrics in natural language
evaluation*, ACL 2018, section 3.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.errors import OptionError, joined
from qc.run import codes


@dataclass(frozen=True)
class Judged:
    """The judgments on one criterion, for one system or all systems; K judgments, N outputs in the pool.

    Attributes:
        criterion: the judged criterion.
        system: the system of the outputs; None for all systems.
        values: (K,), in the order of the source; higher or lower may be better.
        z: (K,), `values` standardised per worker; NaN if impossible.
        outputs: (K,), row of the judged output in the pool.
        workers: (K,), codes from 0; None if the source does not say who judged.
        positions: (K,), position of the judgment in its worker's sequence, from 1; NaN if unknown.
        names: (N,), names of the outputs in the pool.
        metrics: N rows, a float column for each metric; NaN if an output has no value.
        probabilities: (N,), as in `Judgments`.
    """

    criterion: str
    system: str | None
    values: NDArray[np.float64]
    z: NDArray[np.float64]
    outputs: NDArray[np.intp]
    workers: NDArray[np.intp] | None
    positions: NDArray[np.float64]
    names: NDArray[np.object_]
    metrics: pd.DataFrame
    probabilities: NDArray[np.float64] | None = None

    @property
    def pool(self) -> int:
        """N, the number of outputs, judged or not."""
        return len(self.names)

    @property
    def counts(self) -> NDArray[np.intp]:
        """(N,), number of judgments of each output of the pool; 0 for an unjudged one."""
        return np.bincount(self.outputs, minlength=self.pool)

    def only(self, judgments: NDArray[np.bool_]) -> "Judged":
        """Return a copy with only the chosen `judgments`, (K,); the pool is unchanged."""
        workers = None
        if self.workers is not None:
            workers = np.asarray(np.unique(self.workers[judgments], return_inverse=True)[1], np.intp)
        return replace(
            self,
            values=self.values[judgments],
            z=self.z[judgments],
            outputs=self.outputs[judgments],
            workers=workers,
            positions=self.positions[judgments],
        )

    def standardised(self) -> "Judged":
        """Return a copy with z as values, without judgments that have no z."""
        known = self.only(~np.isnan(self.z))
        return replace(known, values=known.z)

    def with_metrics(self, *metrics: str) -> "Judged":
        """Return a copy without the outputs that lack one of `metrics`, and without their judgments."""
        known = self.metrics[list(metrics)].notna().all(axis=1).to_numpy()
        return _of_outputs(self, known)


@dataclass(frozen=True)
class Judgments:
    """All judgments of a source; K judgments, N outputs, S systems. It is never modified.

    Attributes:
        source: where they were read from, without any password.
        systems: names, in the order of their first occurrence in the source.
        outputs: N rows, in the order of the source: `output` (str, unique), `item` (str: the input that
            outputs of several systems share), and other data of the source about an output, as text.
        belongs: (N, S), whether an output belongs to a system. Most belong to one system, but two systems may
            have given the same output.
        metrics: N rows, a float column for each metric; NaN if an output has no value.
        rows: K rows, in the order of the source: `output` (int, row of `outputs`), `worker` (category; NaN
            if the source does not say), `criterion` (category), `value` (float, finite), `z` (float: `value`
            standardised per worker; NaN if impossible), `position` (float: position of the judgment in its
            worker's sequence, from 1; NaN if unknown).
        notes: sentences that a reader of the results must see.
        ends: ends of the scale of every criterion; None if the source does not say.
        in_order: whether the rows are known to be in order of arrival, as confidence sequences need them.
        probabilities: (N,), with which each output was drawn to be judged, known for all that were judged;
            None if all were drawn alike.
    """

    source: str
    systems: tuple[str, ...]
    outputs: pd.DataFrame
    belongs: NDArray[np.bool_]
    metrics: pd.DataFrame
    rows: pd.DataFrame
    notes: tuple[str, ...] = ()
    ends: tuple[float, float] | None = None
    in_order: bool = True
    probabilities: NDArray[np.float64] | None = None

    @property
    def criteria(self) -> tuple[str, ...]:
        """The judged criteria, in the order of the source."""
        return tuple(self.rows["criterion"].cat.categories)

    def of(self, criterion: str, system: str | None = None) -> Judged:
        """Return the judgments on one criterion, for one system or for all.

        Raises:
            OptionError: there is no such criterion, or no such system.
        """
        _require("criterion", criterion, self.criteria)
        if system is not None:
            _require("system", system, self.systems)
        wanted = codes(self.rows["criterion"]) == self.criteria.index(criterion)
        rows = self.rows[wanted]
        workers = None
        if rows["worker"].notna().all():
            workers = np.asarray(np.unique(codes(rows["worker"]), return_inverse=True)[1], np.intp)
        everything = Judged(
            criterion=criterion,
            system=system,
            values=rows["value"].to_numpy(np.float64),
            z=rows["z"].to_numpy(np.float64),
            outputs=rows["output"].to_numpy(np.intp),
            workers=workers,
            positions=rows["position"].to_numpy(np.float64),
            names=self.outputs["output"].to_numpy(object),
            metrics=self.metrics,
            probabilities=self.probabilities,
        )
        if system is None:
            return everything
        return _of_outputs(everything, self.belongs[:, self.systems.index(system)])

    def where(self, column: str, text: str) -> "Judgments":
        """Return the outputs with `text` in `column`, and their judgments.

        Raises:
            OptionError: the source has no such column, or no output with this text.
        """
        _require("column", column, tuple(self.outputs.columns))
        chosen = (self.outputs[column] == text).to_numpy(bool)
        if not chosen.any():
            raise OptionError(
                f"--where {column}={text}: no output has that value. Values there are: "
                f"{joined([repr(value) for value in self.outputs[column].unique()])}."
            )
        places = np.cumsum(chosen) - 1
        rows = self.rows[chosen[self.rows["output"]]]
        some = np.flatnonzero(self.belongs[chosen].any(axis=0))
        return replace(
            self,
            systems=tuple(self.systems[number] for number in some),
            outputs=self.outputs[chosen].reset_index(drop=True),
            belongs=self.belongs[np.ix_(chosen, some)],
            metrics=self.metrics[chosen].reset_index(drop=True),
            rows=rows.assign(output=places[rows["output"]]).reset_index(drop=True),
            probabilities=None if self.probabilities is None else self.probabilities[chosen],
        )


def _of_outputs(judged: Judged, chosen: NDArray[np.bool_]) -> Judged:
    """Return the part with the `chosen` outputs, (N,); the others are removed from the pool."""
    places = np.cumsum(chosen) - 1
    part = judged.only(chosen[judged.outputs])
    return replace(
        part,
        outputs=places[part.outputs],
        names=judged.names[chosen],
        metrics=judged.metrics[chosen].reset_index(drop=True),
        probabilities=None if judged.probabilities is None else judged.probabilities[chosen],
    )


def _require(kind: str, name: str, known: Sequence[str]) -> None:
    if name not in known:
        raise OptionError(f"There is no {kind} {name!r}. There are: {joined(known)}.")
