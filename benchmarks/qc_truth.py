"""Does the analysis keep its word where the truth is known? Runs made up by design, analysed, and counted.

    python benchmarks/qc_truth.py [--runs 500] [--design published ...]

Each line is a design of `tests/qc/support/designs.py`. The true scores are those of one run of the same
design with very many workers, through the same filter and standardisation; equal systems have one true
score. In the columns stand shares of runs, systems or pairs, in per cent, and what they should be. Whoever
adds a statistic adds a function to RATES.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console

from qc.command import progress
from qc.method.sample import Sample, take_sample
from qc.method.scores import Scores, score
from qc.robustness.intervals import Intervals, intervals
from tests.qc.support.designs import DESIGNS, Design, run_of, with_equal_systems

DRAWS = 999
# Conversations with systems by which the true scores are known, to about 0.004 z.
TRUTH_CONVERSATIONS = 150_000


@dataclass(frozen=True)
class Analysed:
    """A run, and the truth: `truth` has the true overall z of the systems in the order of the scores."""

    sample: Sample
    scores: Scores
    intervals: Intervals
    truth: NDArray[np.float64]

    @property
    def differences(self) -> NDArray[np.float64]:
        """True score of the row's system minus that of the column's."""
        return self.truth[:, None] - self.truth


# How many of how many; none of 0 where a run has nothing to count.
Counted = tuple[float, int]


def scores_held(run: Analysed) -> Counted:
    return _held(run.intervals.z_low[:, 0], run.intervals.z_high[:, 0], run.truth)


def leader_held(run: Analysed) -> Counted:
    return _held(run.intervals.z_low[:1, 0], run.intervals.z_high[:1, 0], run.truth[:1])


def differences_held(run: Analysed) -> Counted:
    pairs = np.triu_indices(len(run.truth), 1)
    found = run.intervals
    return _held(found.difference_low[pairs], found.difference_high[pairs], run.differences[pairs])


def all_differences_held(run: Analysed) -> Counted:
    pairs = np.triu_indices(len(run.truth), 1)
    found = run.intervals
    held, of = _held(found.simultaneous_low[pairs], found.simultaneous_high[pairs], run.differences[pairs])
    return float(held == of), 1


def wrongly_apart(run: Analysed) -> Counted:
    """Return whether any system is called better than one that is as good or better."""
    return float(((run.intervals.simultaneous_low > 0) & (run.differences <= 0)).any()), 1


def said_best(run: Analysed) -> Counted:
    chance = float(run.intervals.best_chance[0])
    return (chance, 1) if np.isfinite(chance) else (0.0, 0)


def is_best(run: Analysed) -> Counted:
    best = run.truth == run.truth.max()
    return (float(best[0] / best.sum()), 1) if np.isfinite(run.intervals.best_chance[0]) else (0.0, 0)


def _held(low: NDArray[np.float64], high: NDArray[np.float64], truth: NDArray[np.float64]) -> Counted:
    known = np.isfinite(low)
    return float(((low <= truth) & (truth <= high))[known].sum()), int(known.sum())


RATES: dict[str, Callable[[Analysed], Counted]] = {
    "score held (95)": scores_held,
    "leader's held (95)": leader_held,
    "difference held (95)": differences_held,
    "all differences held (95)": all_differences_held,
    "any wrongly told apart (≤ 5)": wrongly_apart,
    "leader said to be best": said_best,
    "leader is best": is_best,
}


def truth_of(design: Design) -> NDArray[np.float64]:
    """Return the true overall z of the systems, by number."""
    per_worker = (design.assignments or 1) * (len(design.quality) // (2 - len(design.quality) % 2))
    large = replace(design, workers=TRUTH_CONVERSATIONS // per_worker)
    z = score(take_sample(run_of(large, np.random.default_rng(0)))).z.sort_values("system")
    found = z["overall"].to_numpy(np.float64)
    # Equal systems differ by the errors of the large run only.
    return np.array(
        [found[[other == quality for other in design.quality]].mean() for quality in design.quality]
    )


def analysed(design: Design, truth: NDArray[np.float64], number: int) -> Analysed:
    sample = take_sample(run_of(design, np.random.default_rng([1, number])))
    scores = score(sample)
    of_system = [int(name.split()[-1]) for name in scores.z["system"]]
    return Analysed(sample, scores, intervals(sample, scores, DRAWS, number), truth[of_system])


def line(design: Design, runs: int, on_run: Callable[[str], None]) -> str:
    """Return the row of the table for one design."""
    truth = truth_of(design)
    totals = dict.fromkeys(RATES, (0.0, 0))
    for number in range(runs):
        on_run(design.name)
        run = analysed(design, truth, number)
        for name, rate in RATES.items():
            hits, of = rate(run)
            totals[name] = totals[name][0] + hits, totals[name][1] + of
    cells = [f"{100 * hits / of:.1f}" if of else "" for hits, of in totals.values()]
    return f"| {design.name} | {' | '.join(cells)} |"


def every_design() -> dict[str, Design]:
    equal = {f"{key}-equal": with_equal_systems(design) for key, design in DESIGNS.items() if key != "three"}
    return DESIGNS | equal


def main(
    runs: Annotated[int, typer.Option(help="Runs of each design.")] = 500,
    design: Annotated[list[str] | None, typer.Option(help="A design; all if none is given.")] = None,
) -> None:
    """Print coverage and error rates of the analysis, a line for each design."""
    designs = every_design()
    unknown = sorted(set(design or ()) - designs.keys())
    if unknown:
        raise typer.BadParameter(f"No design {', '.join(unknown)}. There are {', '.join(designs)}.")
    chosen = [designs[key] for key in design or designs]
    print(f"| {runs} runs of each design; per cent | {' | '.join(RATES)} |")
    print(f"|---|{'---:|' * len(RATES)}")
    with progress(Console(stderr=True), runs * len(chosen)) as on_run:
        for one in chosen:
            print(line(one, runs, on_run), flush=True)


if __name__ == "__main__":
    typer.run(main)
