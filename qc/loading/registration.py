"""Read a preregistration: the file of `candor study preregister`, written before a run.

The hash in the file is the SHA-256 of its content without `hash`, as JSON with sorted keys and no spaces, in
UTF-8.
"""

import hashlib
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from candor.common.files import read_file
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
    """When the run has enough data: one of three targets, as in a run's rules."""

    assignments: int | None = None
    conversations_per_system: int | None = None
    widest_interval: float | None = None


class Preregistration(StrictModel, extra="forbid"):
    """The content of a preregistration.

    Attributes:
        registered: time of registration, UTC.
        run, study, study_hash: the run and its study.
        begun_before: number of assignments that had begun by then; unless 0, it was not registered before
            the data.
        hypotheses: tested together at the familywise level `familywise`.
        criteria, filter: criteria and level of quality control.
        target, stopping: when the run stops; `stopping` in words.
        exclusions: allowed reasons for excluding assignments by hand.
        hash: hash of everything else.
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
        """Time of registration."""
        time = datetime.fromisoformat(self.registered)
        return time if time.tzinfo else time.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Point:
    """One point of a preregistration, and whether it was followed.

    Attributes:
        what: its name.
        registered: its registered content.
        found: what this analysis and its data show.
        followed: whether the two agree; None if the data do not say.
    """

    what: str
    registered: str
    found: str
    followed: bool | None


@dataclass(frozen=True, slots=True)
class HypothesisDecision:
    """Result of a registered hypothesis.

    Attributes:
        higher, lower: the systems.
        difference: difference in overall z; NaN if one of them has no score.
        p: one-sided p-value, with workers as the independent units; NaN if it cannot be tested.
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
    """A preregistration compared with an analysis: its points and its hypotheses."""

    registered: str
    hash: str
    level: float
    points: tuple[Point, ...]
    decisions: tuple[HypothesisDecision, ...]


def read_registration(path: Path) -> Preregistration:
    """Return the preregistration in the file at `path`.

    Raises:
        SourceError: the file cannot be read, or has a newer version.
        DataError: it is not a preregistration, or was changed after it was written.
    """
    import yaml  # noqa: PLC0415  # most reports have no preregistration

    from candor.common.files import read_yaml  # noqa: PLC0415  # as above

    try:
        content = read_yaml(read_file(path))
    except (OSError, ValueError, yaml.YAMLError) as error:
        reason = getattr(error, "strerror", None) or f"it is no YAML: {error}"
        raise SourceError(f"{path}: the preregistration cannot be read ({reason}). Check the path.") from None
    try:
        found = Preregistration.model_validate(content)
        found.at.isoformat()
    except ValidationError as error:
        raise _damaged(path, _first_fault(error)) from None
    except ValueError as error:
        raise _damaged(path, f"'registered' is no time ({error}).") from None
    if found.version > VERSION:
        raise SourceError(
            f"{path}: this preregistration has version {found.version}, and this program reads {VERSION}. "
            "Install a newer Candor."
        )
    rest = {key: value for key, value in content.items() if key != "hash"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    if found.hash != f"sha256:{hashlib.sha256(text.encode()).hexdigest()}":
        raise _damaged(path, "its content does not match its hash, so it was changed after it was written.")
    return found


def _first_fault(error: ValidationError) -> str:
    """Describe the first error and its location; a file of another kind has many."""
    first, *others = error.errors(include_url=False, include_input=False, include_context=False)
    where = ".".join(map(str, first["loc"]))
    said = f"{where}: {first['msg']}" if where else first["msg"]
    return f"{said}{f', and {len(others)} more faults' if others else ''}."


def _damaged(path: Path, why: str) -> DataError:
    return DataError(
        str(path),
        [Problem("the preregistration", why, "Give the file as `candor study preregister` wrote it.")],
    )
