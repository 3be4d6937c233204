"""Write a run in one of the published formats, and convert conversations and votes of other projects:
`candor data convert`.
"""

import os
from pathlib import Path
from typing import BinaryIO, Protocol

from qc.convert import hits, mturk
from qc.convert.hits import Loss
from qc.errors import OutputError
from qc.options import OnStep, no_step
from qc.run import Run

__all__ = ["FORMATS", "STEPS", "SUFFIXES", "Loss", "losses", "save"]

STEPS = 2  # of `save`: to check what the format can hold, and to write


class Format(Protocol):
    """Interface of a format's module in this package."""

    def losses(self, run: Run, /) -> list[Loss]:
        """Return the data that the format cannot hold; the count is 0 if `run` has none of them."""

    def write(self, run: Run, file: BinaryIO) -> None:
        """Write `run` into `file`. `run` must have no fatal loss."""


FORMATS: dict[str, Format] = {"hits": hits, "mturk": mturk}
SUFFIXES = {".json": "hits", ".csv": "mturk"}


def losses(run: Run, form: str) -> list[Loss]:
    """Return the data of `run` that the format `form`, one of FORMATS, cannot hold."""
    lost = [*FORMATS[form].losses(run), *_held_by_none(run)]
    return [loss for loss in lost if loss.count]


def _held_by_none(run: Run) -> list[Loss]:
    """Return the data of a run that only a database, or the server's export, can hold."""
    return [
        Loss(
            "conversations left unrated on purpose",
            0 if run.unrated is None else len(run.unrated.conversations),
        ),
        Loss("times at which assignments were submitted", 0 if run.ended is None else int(run.ended.count())),
        Loss("how the run stood, and what it was to be", int(run.state is not None)),
        Loss("what a file says of workers' background", 0 if run.background is None else len(run.background)),
    ]


def save(run: Run, path: Path, form: str, on_step: OnStep = no_step) -> list[Loss]:
    """Write `run` to `path`, replacing an existing file, and return the losses.

    The file appears only when it is complete; after a failure, an existing file is unchanged.

    Args:
        run: the run to write.
        path: the file to write.
        form: one of FORMATS.
        on_step: called with a description when each of the STEPS begins.

    Raises:
        OutputError: the format would misrepresent the ratings, the run rates transcripts, which no format can
            hold, or the file cannot be written.
    """
    if run.items is not None:
        raise OutputError(
            f"{path}: the run {run.name!r} rates transcripts, and these formats hold conversations only. "
            "Nothing was written; `candor data export` writes such a run."
        )
    on_step(f"Checking what {form} can hold")
    lost = losses(run, form)
    fatal = [loss for loss in lost if loss.fatal]
    if fatal:
        listed = "\n".join(f"  {loss}" for loss in fatal)
        raise OutputError(
            f"{path}: a file of the format {form!r} cannot hold this run:\n{listed}\n"
            "`candor data export` writes all of a run of a server."
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
        unfinished.touch(mode=0o600, exist_ok=False)  # private: it holds workers' texts
        with unfinished.open("wb") as file:
            form.write(run, file)
        unfinished.replace(path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
