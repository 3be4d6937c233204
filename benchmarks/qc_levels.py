"""How often do the tests of a report find what is not there? Runs of equal systems, analysed, and counted.

    python benchmarks/qc_levels.py [--runs 500] [--design published ...]

Each line is a design of `tests/qc/support/designs.py` whose systems are equal, persona or not, and whose
places do not matter. In the columns stand shares of tests, or of runs, in per cent: those with p < 0.05. A
test that keeps its level has 5; of a table corrected by Holm's procedure at most 5 in 100 runs have any.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import typer
from numpy.typing import ArrayLike
from rich.console import Console

from qc.command import progress
from qc.method.sample import take_sample
from qc.method.scores import Scores, score
from qc.method.significance import Significance, compare_systems
from qc.robustness.context import ContextEffects, context_effects
from qc.robustness.persona import PersonaEffect, persona_effect
from tests.qc.support.designs import DESIGNS, Design, run_of, with_equal_systems

LEVEL = 0.05


@dataclass(frozen=True)
class Compared:
    """A run of equal systems, and what its tests say."""

    scores: Scores
    significance: Significance
    context: ContextEffects
    persona: PersonaEffect | None


# How many tests are below the level, of how many.
Counted = tuple[int, int]


def published(run: Compared) -> Counted:
    return _below(run.significance.p[~np.eye(len(run.scores.z), dtype=bool)])


def by_worker(run: Compared) -> Counted:
    return _below(run.significance.by_worker[~np.eye(len(run.scores.z), dtype=bool)])


def any_published(run: Compared) -> Counted:
    return _any(run.significance.holm)


def any_by_worker(run: Compared) -> Counted:
    return _any(run.significance.by_worker_holm)


def place(run: Compared) -> Counted:
    return _below([effect.p for effect in run.context.effects if effect.name == "position"])


def place_levels(run: Compared) -> Counted:
    """Count the places whose interval does not hold 0."""
    bounds = [
        (level.low, level.high)
        for effect in run.context.effects
        if effect.name == "position"
        for level in effect.levels
        if np.isfinite(level.low)
    ]
    return sum(low > 0 or high < 0 for low, high in bounds), len(bounds)


def persona(run: Compared) -> Counted:
    return _below([family.p for family in run.persona.families] if run.persona else [])


def persona_overall(run: Compared) -> Counted:
    return _below([run.persona.pooled.p] if run.persona and run.persona.pooled else [])


def _below(p: ArrayLike) -> Counted:
    made = np.asarray(p, np.float64)
    return int((made < LEVEL).sum()), int(np.isfinite(made).sum())


def _any(table: ArrayLike) -> Counted:
    return min(_below(table)[0], 1), 1


RATES: dict[str, Callable[[Compared], Counted]] = {
    "rank sum, as published": published,
    "rank test by worker": by_worker,
    "any, published with Holm": any_published,
    "any, by worker with Holm": any_by_worker,
    "place: F": place,
    "place: intervals without 0": place_levels,
    "persona, by family": persona,
    "persona, all families": persona_overall,
}


def line(design: Design, runs: int, on_run: Callable[[str], None]) -> str:
    """Return the row of the table for one design."""
    totals = dict.fromkeys(RATES, (0, 0))
    for number in range(runs):
        on_run(design.name)
        sample = take_sample(run_of(design, np.random.default_rng([2, number])))
        scores = score(sample)
        run = Compared(
            scores, compare_systems(sample, scores), context_effects(sample), persona_effect(sample, scores)
        )
        for name, rate in RATES.items():
            below, of = rate(run)
            totals[name] = totals[name][0] + below, totals[name][1] + of
    cells = [f"{100 * below / of:.1f}" if of else "" for below, of in totals.values()]
    return f"| {design.name} | {' | '.join(cells)} |"


def main(
    runs: Annotated[int, typer.Option(help="Runs of each design.")] = 500,
    design: Annotated[list[str] | None, typer.Option(help="A design; all if none is given.")] = None,
) -> None:
    """Print how often each test is below its level where there is nothing to find, a line for each design."""
    unknown = sorted(set(design or ()) - DESIGNS.keys())
    if unknown:
        raise typer.BadParameter(f"No design {', '.join(unknown)}. There are {', '.join(DESIGNS)}.")
    print(f"| {runs} runs of each design; per cent | {' | '.join(RATES)} |")
    print(f"|---|{'---:|' * len(RATES)}")
    chosen = [with_equal_systems(DESIGNS[key]) for key in design or DESIGNS]
    with progress(Console(stderr=True), runs * len(chosen)) as on_run:
        for one in chosen:
            print(line(one, runs, on_run), flush=True)


if __name__ == "__main__":
    typer.run(main)
