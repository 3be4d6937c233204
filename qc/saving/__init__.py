"""Write a run in one of the formats that can be read again."""

import os
from pathlib import Path
from typing import BinaryIO, Protocol

from qc.errors import OutputError
from qc.progress import OnStep, no_step
from qc.run import Run
from qc.saving import hits, jsonl, mturk, parquet
from qc.saving.nested import Loss

__all__ = ["FORMATS", "STEPS", "SUFFIXES", "Loss", "losses", "save"]

STEPS = 2  # of `save`: to check what the format can hold, and to write


class Format(Protocol):
    """What a module of this package offers."""

    def losses(self, run: Run, /) -> list[Loss]:
        """Return what the format cannot hold; what there is none of in `run` has a count of 0."""

    def write(self, run: Run, file: BinaryIO) -> None:
        """Write `run` into `file`. No loss of it may be fatal."""


FORMATS: dict[str, Format] = {"hits": hits, "mturk": mturk, "jsonl": jsonl, "parquet": parquet}
SUFFIXES = {".json": "hits", ".csv": "mturk", ".jsonl": "jsonl", ".parquet": "parquet"}


def losses(run: Run, form: str) -> list[Loss]:
    """Return what the format `form`, one of FORMATS, cannot hold of `run`, as far as there is any."""
    lost = [*FORMATS[form].losses(run), *_held_by_none(run)]
    return [loss for loss in lost if loss.count]


def _held_by_none(run: Run) -> list[Loss]:
    """Return what only a database, or the server's export of it, holds of a run."""
    return [
        Loss(
            "conversations left unrated on purpose",
            0 if run.unrated is None else len(run.unrated.conversations),
        ),
        Loss("times at which assignments were handed in", 0 if run.ended is None else int(run.ended.count())),
        Loss("how the run stood, and what it was to be", int(run.state is not None)),
        Loss("what a file says of workers' background", 0 if run.background is None else len(run.background)),
    ]


def save(run: Run, path: Path, form: str, on_step: OnStep = no_step) -> list[Loss]:
    """Write `run` to `path` and return what is lost; a file that is there is replaced.

    The file appears when it is complete; a failure leaves what was there.

    Args:
        run: what is written.
        path: where to.
        form: one of FORMATS.
        on_step: called with a description when each of the STEPS begins.

    Raises:
        OutputError: the format would say something wrong about the ratings, the run rates transcripts, which
            no format holds, or the file cannot be written.
    """
    if run.items is not None:
        raise OutputError(
            f"{path}: the run {run.name!r} rates transcripts, and these formats hold conversations only. "
            "Nothing was written; `candor export` writes such a run."
        )
    on_step(f"Checking what {form} can hold")
    lost = losses(run, form)
    fatal = [loss for loss in lost if loss.fatal]
    if fatal:
        listed = "\n".join(f"  {loss}" for loss in fatal)
        raise OutputError(
            f"{path}: a file of the format {form!r} cannot hold this run:\n{listed}\n"
            "Write .jsonl or .parquet, which hold that."
        )
    on_step(f"Writing {path}")
    try:
        _replace(run, path, FORMATS[form])
    except OSError as error:
        reason = error.strerror or str(error)
        raise OutputError(f"{path}: the file cannot be written ({reason}). Name another one.") from None
    return lost


def _replace(run: Run, path: Path, form: Format) -> None:
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        unfinished.touch(mode=0o600, exist_ok=False)  # it holds words of workers
        with unfinished.open("wb") as file:
            form.write(run, file)
        unfinished.replace(path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
