"""Interim results of a run: workers who pass so far, and intervals valid at any time.

A score's interval is the asymptotic confidence sequence (`qc.precision.confidence_sequence`) over workers
who passed, in the order in which they submitted. The value of a worker is the mean of their overall z for the
system. The interval is valid at all times together, so it may stop a run. The order of workers must not
change between two checks. So assignments in progress count in no score: it is not known yet whether their
workers pass. `benchmarks/running_coverage.py` counts how often the sequences miss.
"""

import json
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from math import isfinite
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from qc.command import Alpha, RunName, stderr_console
from qc.errors import EmptyRunError, OptionError
from qc.loading import LoadOptions, assignment_status, is_database, open_source, read_run
from qc.method.sample import Sample, take_sample
from qc.precision.confidence_sequence import FIRST_LOOK, TIGHTEST, asymptotic, worker_stream
from qc.run import SIMULATED_NOTE, Run, codes
from qc.statistics.confidence import LEVEL
from qc.transcripts.judgments import take_judgments

PEOPLE_NOTE = "Simulated workers are left out."
UNDECIDED_NOTE = (
    "Some workers are still in progress. Their p-values are interim, and their ratings enter no score yet."
)
WAITING_NOTE = (
    f"Some systems have no interval yet. An interval needs at least {FIRST_LOOK} workers who passed quality "
    "control, and more if a few of them gave far higher or lower scores than the others."
)


@dataclass(frozen=True)
class WorkerSoFar:
    """A worker with ratings: the filter's p so far, NaN if there is nothing to test."""

    worker: str
    p: float
    conversations: int


@dataclass(frozen=True)
class ScoreSoFar:
    """A system's score so far: mean overall z over conversations of workers who passed, and its interval.

    `z` is NaN without such a conversation; `low` and `high` are NaN with fewer than FIRST_LOOK workers, and
    while nearly all are the same or a tail is long.
    """

    system: str
    conversations: int
    raters: int
    z: float
    low: float
    high: float

    @property
    def width(self) -> float:
        """Width of the interval; NaN if there is none."""
        return self.high - self.low


@dataclass(frozen=True)
class Running:
    """Interim results of a run.

    Attributes:
        ratings: number of ratings, one for each criterion of a conversation.
        passed, failed: workers who submitted, by the filter's result.
        undecided: workers with ratings whose assignment is in progress.
        workers: all workers with ratings, including those who left, by name.
        scores: scores of every system but the QC bot, by name.
        notes: sentences that a reader must see.
    """

    ratings: int
    passed: int
    failed: int
    undecided: int
    workers: tuple[WorkerSoFar, ...]
    scores: tuple[ScoreSoFar, ...]
    notes: tuple[str, ...]

    @property
    def widest(self) -> float:
        """The width of the widest interval; NaN while a system has none."""
        return float(np.max([score.width for score in self.scores])) if self.scores else np.nan


def running(run: Run, status: NDArray[np.str_], alpha: float = 0.05) -> Running:
    """Return the interim results of `run`.

    Args:
        run: read from a database, including assignments that were not completed (`include_partial`).
        status: (assignments,), status of each assignment: `completed`, `active`, or that its worker has left.
        alpha: level of quality control.

    Raises:
        OptionError: `alpha` is not strictly between 0 and 1.
    """
    sample = _sample(run, alpha)
    owners, names = codes(run.assignments["worker"]), run.assignments["worker"].cat.categories
    submitted, under_way = (
        np.isin(np.arange(len(names)), owners[status == wanted]) for wanted in ("completed", "active")
    )
    p, passed = _verdicts(sample, len(names))
    held = np.bincount(codes(run.conversations["worker"]), minlength=len(names))
    scores = _scores(run, sample, submitted & passed)
    return Running(
        ratings=int(run.ratings.size),
        passed=int((submitted & passed).sum()),
        failed=int((submitted & ~passed).sum()),
        undecided=int((under_way & ~submitted).sum()),
        workers=tuple(
            WorkerSoFar(str(name), *so_far)
            for name, *so_far in zip(names, p.tolist(), held.tolist(), strict=True)
        ),
        scores=scores,
        notes=_notes(run, scores, bool(under_way.any())),
    )


def _sample(run: Run, alpha: float) -> Sample | None:
    """Return the sample of `run`; None at the beginning, when no worker can be tested yet."""
    try:
        return take_sample(run, alpha) if run.items is None else take_judgments(run, alpha)
    except EmptyRunError:
        return None


def _verdicts(sample: Sample | None, count: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the p of each worker and whether they pass, both (`count`,)."""
    if sample is None:
        return np.full(count, np.nan), np.zeros(count, bool)
    workers = sample.screening.workers
    return workers["p"].to_numpy(np.float64), workers["passed"].to_numpy(bool)


def _scores(run: Run, sample: Sample | None, counts: NDArray[np.bool_]) -> tuple[ScoreSoFar, ...]:
    """Return the systems' scores so far; `counts`, (workers,): whether a worker's ratings count."""
    competing = run.systems.loc[run.competing, "system"]
    if sample is None:
        return tuple(ScoreSoFar(str(name), 0, 0, np.nan, np.nan, np.nan) for name in competing)
    turn = _turns(run)
    rows = np.flatnonzero(counts[sample.workers] & sample.competes)
    rows = rows[np.argsort(turn[sample.workers[rows]], kind="stable")]
    overall = sample.overall["z"]
    return tuple(
        _score(str(name), overall[of], sample.workers[of])
        for code, name in competing.items()
        for of in [rows[sample.systems[rows] == code]]
    )


def _turns(run: Run) -> NDArray[np.intp]:
    """Return each worker's place in the order of submission, (workers,); ties are ordered by name."""
    if run.ended is None:
        raise AssertionError("a database says when assignments were submitted")
    ended = run.ended.to_numpy("datetime64[ns]").astype(np.int64)
    last = np.full(len(run.assignments["worker"].cat.categories), np.iinfo(np.int64).min)
    np.maximum.at(last, codes(run.assignments["worker"]), ended)
    return np.argsort(np.argsort(last, kind="stable"))


def _score(system: str, values: NDArray[np.float64], workers: NDArray[np.intp]) -> ScoreSoFar:
    """Return a system's score so far, from values in the order in which their workers submitted."""
    if not len(values):
        return ScoreSoFar(system, 0, 0, np.nan, np.nan, np.nan)
    stream = worker_stream(values, workers)
    mean = float(np.sort(values).mean())
    if len(stream) < FIRST_LOOK:
        return ScoreSoFar(system, len(values), len(stream), mean, np.nan, np.nan)
    sequence = asymptotic(stream, 1 - LEVEL, TIGHTEST)
    centre, reach = float(sequence.centre[-1]), float(sequence.half_width[-1])
    return ScoreSoFar(system, len(values), len(stream), mean, centre - reach, centre + reach)


def _notes(run: Run, scores: tuple[ScoreSoFar, ...], under_way: bool) -> tuple[str, ...]:
    who = SIMULATED_NOTE if SIMULATED_NOTE in run.notes else PEOPLE_NOTE
    waiting = not all(isfinite(score.width) for score in scores)
    return (who, *([UNDECIDED_NOTE] if under_way else []), *([WAITING_NOTE] if waiting else []))


app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich")
NOTHING_NOTE = "Nothing has been rated yet."


@app.command()
def watch(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE", help="An SQLite file or a database URL (sqlite:///…, postgresql://…)."
        ),
    ],
    run: RunName = None,
    alpha: Alpha = 0.05,
) -> None:
    """Print interim results of an open or closed run: who passes so far, and how certain the scores are.

    The intervals are confidence sequences: they stay valid however often you check them, so they may stop a
    run. Simulated workers count only if the run has no people.
    """
    with stderr_console(), open_source(source) as opened:
        if not is_database(opened):
            raise OptionError(f"{source}: this is the file of a finished run. Give a database.")
        at = datetime.now(UTC)
        try:
            read = read_run(opened, LoadOptions(run, include_partial=True, words=False))
        except EmptyRunError:
            found = Running(0, 0, 0, 0, (), (), (NOTHING_NOTE,))
        else:
            found = running(read, assignment_status(opened, read), alpha)
    sys.stdout.write(json.dumps(_document(found, at)) + "\n")


def _document(found: Running, at: datetime) -> dict[str, Any]:
    return {
        "at": at.isoformat(timespec="seconds"),
        "ratings": found.ratings,
        "pass_rate": {"passed": found.passed, "failed": found.failed, "undecided": found.undecided},
        "workers": [_worker(worker) for worker in found.workers],
        "scores": [_score_content(score) for score in found.scores],
        "widest": _number(found.widest),
        "notes": list(found.notes),
    }


def _worker(worker: WorkerSoFar) -> dict[str, Any]:
    return {"worker": worker.worker, "p": _number(worker.p), "conversations": worker.conversations}


def _score_content(score: ScoreSoFar) -> dict[str, Any]:
    return {
        "system": score.system,
        "conversations": score.conversations,
        "raters": score.raters,
        "z": _number(score.z),
        "low": _number(score.low),
        "high": _number(score.high),
    }


def _number(value: float) -> float | None:
    return value if isfinite(value) else None


if __name__ == "__main__":
    app(prog_name="python -m qc.precision.watch")
