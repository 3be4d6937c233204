"""Everything that can be wrong with what an analyst gives us, each said in words they can act on.

No error of this package means that the program is broken: each one names what was given, why it cannot
be used and what to do. The command line prints the message and ends with code 2.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

SHOWN_PROBLEMS = 20

# What a reader of ratings says of a run of comparisons.
COMPARED = (
    "the workers of this run compared two systems side by side, and what is asked for here needs ratings. "
    "`candor report` has the scores of the comparison; where the two were rated, too, the database has that."
)


class QcError(Exception):
    """Something the analyst can put right. `str(error)` is the whole message.

    `run`: which run it is about, where what was given holds several; None where that says nothing.
    """

    run: str | None = None

    def __str__(self) -> str:
        """Return what is wrong and what to do, after the run that it is about."""
        message = super().__str__()
        return message if self.run is None else f"Run {self.run}: {message}"


class OptionError(QcError):
    """An option of the command line has a value that makes no sense here. Change the option."""


class SourceError(QcError):
    """The source cannot be opened, or is of no kind that we read. Name another one."""


class RunChoiceError(QcError):
    """The database holds several runs, or not the one asked for. Choose one with `--run`."""


class EmptyRunError(QcError):
    """The run holds too little for an analysis. Collect data, or include what was left out."""


class ReplicationError(QcError):
    """The second run has too little in common with the first. Give one of the same systems and criteria."""


class ComparisonError(QcError):
    """Two metrics, or a metric and people, scored different systems. Give scores of the same ones."""


class ModelError(QcError):
    """A model cannot be loaded, or cannot do what a metric needs. Name another, or install its library."""


class JudgeError(QcError):
    """A judge gives no ratings. What it has given is kept: the same command goes on from there."""


class JudgeUnreachable(JudgeError):
    """Nothing answers at the judge's address, or not in time. Start it, or correct `--judge`."""


class JudgeRefused(JudgeError):
    """The judge answers that it will not: a wrong key, an unknown model, a used-up quota."""


class JudgeUnreadable(JudgeError):
    """The judge answers, but not with ratings. Name a model that follows instructions."""


class OutputError(QcError):
    """The results cannot be written where they were asked for. Name another directory."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One fault of a data set: where it is (row or path, and field), why it is one, what to do."""

    where: str
    why: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.where}: {self.why} {self.remedy}"


class DataError(QcError):
    """The source could be read, but its content cannot be used. All problems found are in `problems`."""

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
    """Have what goes wrong within say that it is about the run `name`: the source alone may hold several.

    What names the run already stays as it is.
    """
    try:
        yield
    except QcError as error:
        if error.run is None and repr(name) not in str(error):
            error.run = name
        raise


def quoted(value: object, limit: int = 60) -> str:
    """Return `value` as it stands in the data, cut to `limit` characters, for use in a message."""
    text = repr(value)
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def joined(names: Sequence[str], limit: int = 10) -> str:
    """Return `names` separated by commas, cut after `limit` of them, for use in a message."""
    shown = ", ".join(names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"
