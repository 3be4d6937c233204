"""A preregistration: what was fixed before a run, read from the file of `candor study preregister`.

The hash in the file is SHA-256 of its content without `hash` as JSON, keys sorted, no spaces, in UTF-8.
"""

import hashlib
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from qc.errors import DataError, Problem, SourceError
from qc.formats.published import StrictModel

VERSION = 1


class Hypothesis(StrictModel, extra="forbid"):
    """The system `higher` scores higher overall than `lower`."""

    higher: str
    lower: str


class RegisteredCriterion(StrictModel, extra="forbid"):
    """A criterion: whether it is negative, and whether it counts for quality control."""

    label: str
    negative: bool
    counts_for_qc: bool


class RegisteredFilter(StrictModel, extra="forbid"):
    """The level at which workers pass."""

    alpha: float


class RegisteredTarget(StrictModel, extra="forbid"):
    """When the run has enough: one of the three, as in a run's rules."""

    assignments: int | None = None
    conversations_per_system: int | None = None
    widest_interval: float | None = None


class Registration(StrictModel, extra="forbid"):
    """What was fixed, and when.

    Attributes:
        registered: when, UTC.
        run, study, study_hash: whose run of what.
        begun_before: how many assignments had begun by then; with any it is none before the fact.
        hypotheses: decided together at the level `familywise`.
        criteria, filter: who is kept, by what.
        target, stopping: when the run stops; `stopping` in words.
        exclusions: why assignments may be excluded by hand.
        hash: of all the rest.
    """

    format: Literal["candor-preregistration"]
    version: int
    registered: str
    run: str
    study: str
    study_hash: str
    begun_before: int
    hypotheses: list[Hypothesis]
    familywise: float
    criteria: list[RegisteredCriterion]
    filter: RegisteredFilter
    target: RegisteredTarget | None
    stopping: str
    exclusions: list[str]
    hash: str

    @property
    def at(self) -> datetime:
        """When it was registered."""
        time = datetime.fromisoformat(self.registered)
        return time if time.tzinfo else time.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Point:
    """One thing that was fixed.

    Attributes:
        what: it is.
        registered: what was said.
        found: what this analysis and its data show.
        followed: whether it was; None where the data do not tell.
    """

    what: str
    registered: str
    found: str
    followed: bool | None


@dataclass(frozen=True, slots=True)
class Decision:
    """What became of a hypothesis.

    Attributes:
        higher, lower: the systems.
        difference: in overall z; NaN if one has no score.
        p: one-sided, its error that of workers; NaN if it cannot be tested.
        adjusted: `p` with Holm's correction over the registered hypotheses.
        supported: whether `adjusted` is below the registered level; None if it cannot be tested.
    """

    higher: str
    lower: str
    difference: float
    p: float
    adjusted: float
    supported: bool | None


@dataclass(frozen=True)
class Followed:
    """Point by point whether a preregistration was followed, and what became of its hypotheses."""

    registered: str
    hash: str
    level: float
    points: tuple[Point, ...]
    decisions: tuple[Decision, ...]


def read_registration(path: Path) -> Registration:
    """Return the preregistration in the file at `path`.

    Raises:
        SourceError: the file cannot be read, or is of a newer version.
        DataError: it is no preregistration, or was changed after it was written.
    """
    import yaml  # noqa: PLC0415  # most reports follow no preregistration

    from qc.formats.bounded_yaml import read_yaml  # noqa: PLC0415  # as above

    try:
        content = read_yaml(path.read_bytes())
    except (OSError, ValueError, yaml.YAMLError) as error:
        reason = getattr(error, "strerror", None) or f"it is no YAML: {' '.join(str(error).split())}"
        raise SourceError(f"{path}: the preregistration cannot be read ({reason}). Check the path.") from None
    try:
        found = Registration.model_validate(content)
        found.at.isoformat()
    except ValidationError as error:
        raise _damaged(path, _first_fault(error)) from None
    except ValueError as error:
        raise _damaged(path, f"'registered' is no time ({error}).") from None
    if found.version > VERSION:
        raise SourceError(
            f"{path}: this preregistration is of version {found.version}, and this program reads {VERSION}. "
            "Install a newer Candor."
        )
    rest = {key: value for key, value in content.items() if key != "hash"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    if found.hash != f"sha256:{hashlib.sha256(text.encode()).hexdigest()}":
        raise _damaged(path, "its content does not give its hash, so it was changed after it was written.")
    return found


def _first_fault(error: ValidationError) -> str:
    """Return where the first fault is and what it is; a file that is something else has many."""
    first, *others = error.errors(include_url=False, include_input=False, include_context=False)
    where = ".".join(map(str, first["loc"]))
    said = f"{where}: {first['msg']}" if where else first["msg"]
    return f"{said}{f', and {len(others)} more faults' if others else ''}."


def _damaged(path: Path, why: str) -> DataError:
    return DataError(
        str(path),
        [Problem("the preregistration", why, "Give the file as `candor study preregister` wrote it.")],
    )
