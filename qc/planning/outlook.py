"""Forecast a study for a number of workers from a rehearsal: intervals, chances, minutes, cost.

The bootstrap of whole workers (`qc.robustness.intervals`) gives the standard deviations of the scores, and of
the difference of the first two systems, over the rehearsal's workers who passed. With W workers instead of
W₀, these are multiplied by √(W₀ / W). With P workers who passed, the bootstrap's standard deviations are too
small by √((P − 1) / P), which is corrected. The chance to distinguish the first two systems is the power of a
two-sided test at level α, averaged over the bootstrap's differences, because the true difference is unknown:
E[ Φ(|d*| / se − z) + Φ(−|d*| / se − z) ], where z is the normal quantile at 1 − α/2.
"""

import json
import sys
from dataclasses import asdict, dataclass
from math import ceil, isfinite
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from qc.command import RunName, SourceName, stderr_console
from qc.errors import EmptyRunError
from qc.loading import load
from qc.method.sample import pass_rates, require_competing, take_sample
from qc.method.scores import score
from qc.robustness.intervals import draw
from qc.run import REHEARSAL_NOTE, Run
from qc.statistics.confidence import LEVEL
from qc.table import counted

# Minutes per conversation in the published run 1, including topic and rating, with at least PUBLISHED_INPUTS
# inputs: Ji et al., ACL 2022; our own figure from its data is the same.
PUBLISHED_MINUTES, PUBLISHED_INPUTS = 6.68, 10
DRAWS = 2000
POWER = 0.8
MOST_WORKERS = 20_000
FEWEST_PASSED = 4
# With fewer workers who passed, standard deviations are so uncertain that intervals are too narrow.
FEW_PASSED = 12
# Numbers of workers to show, as multiples of the planned number.
MULTIPLES = (0.5, 1.0, 2.0, 4.0)
CURVE_POINTS = 32


@dataclass(frozen=True)
class Plan:
    """A plan: workers (one assignment each), conversations and inputs; pay and fee if known.

    `pay` is the pay for one assignment, `fee` the platform's share on top.
    """

    workers: int
    conversations: int
    inputs: int
    pay: float | None
    fee: float


@dataclass(frozen=True)
class ExpectedScore:
    """A system's score in the rehearsal, and the half-width of its interval with the planned workers."""

    system: str
    z: float
    half_width: float


@dataclass(frozen=True)
class Chance:
    """Forecast for a number of workers: largest half-width, chance to distinguish the first two, cost."""

    workers: int
    half_width: float
    apart: float
    cost: float | None


@dataclass(frozen=True)
class CurvePoint:
    """The chance to distinguish the first two systems with a number of workers."""

    workers: int
    apart: float


@dataclass(frozen=True)
class Outlook:
    """The forecast.

    Attributes:
        rehearsed, passed: workers of the rehearsal.
        minutes: minutes per assignment.
        cost: cost of all planned assignments with fees; None if the pay is unknown.
        scores: best first.
        first, second: the first two systems; `difference` is theirs, in z.
        apart: chance that they are distinguished with the planned workers.
        needed: workers for POWER; None if more than MOST_WORKERS would be needed.
        chances: the same for other numbers of workers.
        curve: the chance for evenly spaced numbers of workers, to be drawn.
    """

    plan: Plan
    rehearsed: int
    passed: int
    minutes: float
    cost: float | None
    scores: tuple[ExpectedScore, ...]
    first: str
    second: str
    difference: float
    apart: float
    needed: int | None
    chances: tuple[Chance, ...]
    curve: tuple[CurvePoint, ...]


def outlook(run: Run, plan: Plan, alpha: float = 0.05, seed: int = 0) -> Outlook:
    """Forecast the results of `plan` if people rate like the workers of `run`, a rehearsal.

    Raises:
        OptionError: `alpha` is not strictly between 0 and 1.
        EmptyRunError: fewer than FEWEST_PASSED workers passed, nothing competes, or fewer than two
            systems have a score.
    """
    sample = take_sample(run, alpha)
    require_competing(run)
    workers = pass_rates(sample).workers
    if workers.passed < FEWEST_PASSED:
        raise EmptyRunError(
            f"{run.source}: {workers.passed} of {workers.total} workers passed, too few for a forecast. "
            "Rehearse with more of them."
        )
    scores = score(sample)
    overall = draw(sample, scores, DRAWS, seed).overall("z")
    known = np.flatnonzero(scores.z["n"].to_numpy() > 0)
    if len(known) < 2:
        raise EmptyRunError(f"{run.source}: fewer than two systems have a score, so nothing can be compared.")
    difference = overall[:, 0] - overall[:, 1]
    difference = difference[np.isfinite(difference)]

    def shrink(count: int) -> float:
        return float(np.sqrt(workers.total / count * workers.passed / (workers.passed - 1)))

    def half_widths(count: int) -> NDArray[np.float64]:
        return np.asarray(
            float(ndtri((1 + LEVEL) / 2)) * np.nanstd(overall[:, known], axis=0) * shrink(count)
        )

    def apart(count: int) -> float:
        return _power(difference, float(difference.std()) * shrink(count), alpha)

    planned = half_widths(plan.workers)
    needed = next((count for count in _numbers() if apart(count) >= POWER), None)
    names, z = scores.z["system"].to_list(), scores.z["overall"].to_numpy(np.float64)
    return Outlook(
        plan=plan,
        rehearsed=workers.total,
        passed=workers.passed,
        minutes=plan.conversations * PUBLISHED_MINUTES * plan.inputs / PUBLISHED_INPUTS,
        cost=_cost(plan, plan.workers),
        scores=tuple(
            ExpectedScore(names[row], float(z[row]), float(planned[place]))
            for place, row in enumerate(known.tolist())
        ),
        first=names[0],
        second=names[1],
        difference=float(z[0] - z[1]),
        apart=apart(plan.workers),
        needed=needed,
        chances=tuple(
            Chance(count, float(half_widths(count).max()), apart(count), _cost(plan, count))
            for multiple in MULTIPLES
            for count in [max(ceil(multiple * plan.workers), 2)]
        ),
        curve=tuple(CurvePoint(count, apart(count)) for count in _drawn(plan.workers, needed)),
    )


def _power(differences: NDArray[np.float64], se: float, alpha: float) -> float:
    if se == 0:
        return 1.0
    quantile = float(ndtri(1 - alpha / 2))
    moved = np.abs(differences) / se
    return float((ndtr(moved - quantile) + ndtr(-moved - quantile)).mean())


def _numbers() -> list[int]:
    """Return numbers of workers to try, each 5 % larger than the one before."""
    numbers = [4]
    while numbers[-1] < MOST_WORKERS:
        numbers.append(max(numbers[-1] + 1, ceil(numbers[-1] * 1.05)))
    return numbers


def _drawn(planned: int, needed: int | None) -> list[int]:
    """Return the numbers of workers to draw: up to twice the planned one, and beyond the needed one.

    A needed number that is far beyond the plan is left out, or the plan could not be seen.
    """
    last = 2 * planned
    if needed is not None and needed <= 10 * planned:
        last = max(last, ceil(1.15 * needed))
    step = max((last - 2) / (CURVE_POINTS - 1), 1.0)
    return sorted({round(2 + step * point) for point in range(CURVE_POINTS) if 2 + step * point <= last + 1})


def _cost(plan: Plan, workers: int) -> float | None:
    return None if plan.pay is None else plan.pay * workers * (1 + plan.fee)


app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich")


@app.command(name="outlook")
def outlook_command(
    source: SourceName,
    workers: Annotated[int, typer.Option(min=2, help="Planned number of workers, one assignment each.")],
    conversations: Annotated[
        int, typer.Option(min=1, help="Conversations in one assignment, with the QC bot included.")
    ],
    inputs: Annotated[int, typer.Option(min=1, help="Minimum number of a worker's messages.")],
    run: RunName = None,
    pay: Annotated[float | None, typer.Option(min=0, help="What one assignment pays.")] = None,
    fee: Annotated[float, typer.Option(min=0, help="Share that the platform takes on top, as 0.33.")] = 0.0,
    alpha: Annotated[float, typer.Option(help="Level of the filter and of the comparison.")] = 0.05,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the resamples.")] = 0,
) -> None:
    """Forecast the results with this many workers, if people rate like the simulated workers."""
    with stderr_console():
        found = outlook(
            load(source, run, words=False), Plan(workers, conversations, inputs, pay, fee), alpha, seed
        )
    sys.stdout.write(json.dumps(_document(found)) + "\n")


def _document(found: Outlook) -> dict[str, Any]:
    document = asdict(found) | {"power": POWER, "assumed": _assumed(found)}
    plain: dict[str, Any] = _without_nan(document)
    return plain


def _assumed(found: Outlook) -> list[str]:
    said = [
        REHEARSAL_NOTE,
        f"Workers pass quality control as often as the simulated workers, {found.passed} of "
        f"{found.rehearsed}, and differ as much.",
        f"A conversation takes {PUBLISHED_MINUTES} minutes for {PUBLISHED_INPUTS} messages, as in the "
        "published run, and proportionally less or more for other numbers.",
        "The systems are as good as the simulation assumes. The study finds out how good they are.",
    ]
    if found.passed < FEW_PASSED:
        said.append(
            f"Only {counted(found.passed, 'simulated worker')} passed: the intervals are too narrow. "
            "Rehearse more."
        )
    if found.plan.pay is None:
        said.append("What an assignment pays is not said, so nothing is said of the cost.")
    return said


def _without_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nan(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(part) for part in value]
    return None if isinstance(value, float) and not isfinite(value) else value


if __name__ == "__main__":
    app(prog_name="python -m qc.planning.outlook")
