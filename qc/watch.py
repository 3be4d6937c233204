"""`python -m qc.watch SOURCE`: print the interim results of a run as JSON."""

import json
import sys
from datetime import UTC, datetime
from math import isfinite
from typing import Annotated, Any

import typer

from qc.command import Alpha, RunName, stderr_console
from qc.errors import EmptyRunError, OptionError
from qc.loading import LoadOptions, assignment_status, is_database, open_source, read_run
from qc.precision.running import Running, ScoreStanding, WorkerStanding, running

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
            read = read_run(opened, LoadOptions(run, include_partial=True, words=False, replies=False))
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
        "scores": [_score(score) for score in found.scores],
        "widest": _number(found.widest),
        "notes": list(found.notes),
    }


def _worker(worker: WorkerStanding) -> dict[str, Any]:
    return {"worker": worker.worker, "p": _number(worker.p), "conversations": worker.conversations}


def _score(score: ScoreStanding) -> dict[str, Any]:
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
    app(prog_name="python -m qc.watch")
