"""Errors in an analyst's input, with messages that say what to do.

None of these errors means that the program is broken. Each message names the input, says why it cannot be
used, and what to do. The command line prints the message and ends with code 2.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

SHOWN_PROBLEMS = 20

# The remedy of a problem in the data of one assignment.
REPAIR = "Correct it or take the assignment out."

# Error messages if ratings are needed, but the source has only votes, or side-by-side comparisons.
VOTED = (
    "this file holds votes of an arena, and what is asked for here needs ratings. `candor report` has the "
    "scores of the systems in it."
)
COMPARED = (
    "the workers of this run compared two systems side by side, and what is asked for here needs ratings. "
    "`candor report` has the scores of the comparison; where the two were rated, too, the database has that."
)


class QcError(Exception):
    """An error that the analyst can fix. `str(error)` is the whole message.

    `run`: the run that the error is about, if the input holds several; else None.
    """

    run: str | None = None

    def __str__(self) -> str:
        """Return the name of the run, if set, and the message."""
        message = super().__str__()
        return message if self.run is None else f"Run {self.run}: {message}"


class OptionError(QcError):
    """A command-line option has an invalid value. Change the option."""


class SourceError(QcError):
    """The source cannot be opened, or its format is not supported. Name another one."""


class RunChoiceError(QcError):
    """The database holds several runs, or not the one asked for. Choose one with `--run`."""


class EmptyRunError(QcError):
    """The run has too few data for an analysis. Collect more, or include data that were left out."""


class ReplicationError(QcError):
    """The second run has too little in common with the first. Give one of the same systems and criteria."""


class ModelError(QcError):
    """A model cannot be loaded, or cannot do what a metric needs. Name another, or install its library."""


class JudgeError(QcError):
    """A judge returns no ratings. Earlier ratings are kept, and the same command continues from there."""


class JudgeUnreachable(JudgeError):
    """The judge's address does not answer, or not in time. Start the judge, or correct `--judge`."""


class JudgeRefused(JudgeError):
    """The judge refuses the request: a wrong key, an unknown model, a used-up quota."""


class JudgeUnreadable(JudgeError):
    """The judge's answer holds no ratings. Name a model that follows instructions."""


class OutputError(QcError):
    """The results cannot be written to the given path. Name another directory."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem in the data: its location (row or path, and field), the reason, and what to do."""

    where: str
    why: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.where}: {self.why} {self.remedy}"


class DataError(QcError):
    """The source was read, but its content is invalid. `problems` lists all problems found."""

    def __init__(self, source: str, problems: Sequence[Problem]) -> None:
        self.source = source
        self.problems = tuple(problems)
        super().__init__(_listing(source, self.problems))


def _listing(source: str, problems: Sequence[Problem]) -> str:
    count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
    lines = [f"{source}: {count}"]
    lines += [f"  {problem}" for problem in problems[:SHOWN_PROBLEMS]]
    if len(problems) > SHOWN_PROBLEMS:
        lines.append(f"  … and {len(problems) - SHOWN_PROBLEMS} more")
    return "\n".join(lines)


@contextmanager
def about_run(name: str) -> Iterator[None]:
    """Add the run `name` to each QcError raised inside that names no run yet.

    The source alone may hold several runs.
    """
    try:
        yield
    except QcError as error:
        if error.run is None and repr(name) not in str(error):
            error.run = name
        raise


def quoted(value: object, limit: int = 60) -> str:
    """Return `value` as it is in the data, cut to `limit` characters, for use in a message."""
    text = repr(value)
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def joined(names: Sequence[str], limit: int = 10) -> str:
    """Join at most `limit` of `names` with commas, for use in a message."""
    shown = ", ".join(names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"
