"""Does a plan from a small pilot keep its word? Halves of the first published run foretell the second.

    python benchmarks/plan_splits.py RUN1 RUN2 [SPLITS]

Half of the workers of RUN1, drawn at random, are the pilot. From it a plan foretells the mean half-width of
the intervals of a run with as many workers as RUN2 has; RUN2's own is what it is held against.
"""

import sys
from dataclasses import replace

import numpy as np

from qc.loading import load
from qc.method.sample import Sample, take_sample
from qc.planning.rater_model import DrawnRatings, fit
from qc.planning.run_plan import Costs, plan_run, scored, shown
from qc.run import Run
from qc.statistics.resampling import generator

EXPERIMENTS = 40


def half_of(run: Run, rng: np.random.Generator) -> Run:
    """Return the run of half of its workers, drawn at random."""
    workers = run.assignments["worker"].cat.categories
    chosen = rng.choice(workers, len(workers) // 2, replace=False)
    assignments = run.assignments[run.assignments["worker"].isin(chosen)].reset_index(drop=True)
    taken = run.conversations["worker"].isin(chosen).to_numpy()
    conversations = run.conversations[taken].reset_index(drop=True)
    for frame, names in ((assignments, ["worker"]), (conversations, ["worker", "assignment"])):
        for name in names:
            frame[name] = frame[name].cat.remove_unused_categories()
    ratings = run.ratings[taken].reset_index(drop=True)
    return replace(run, assignments=assignments, conversations=conversations, ratings=ratings)


def half_width(sample: Sample) -> float:
    """Return the mean half-width of a run's intervals, computed as in a plan."""
    qc = len(sample.run.systems) - 1
    drawn = DrawnRatings(sample.raw, sample.workers, sample.systems, len(sample.screening.workers), qc)
    found = scored(drawn, fit(sample, 0), sample.screening.alpha)
    if found is None:
        raise SystemExit("too few workers of this run pass")
    seen = shown(found, generator(0, "signs of a run"))
    if seen is None:
        raise SystemExit("too few workers rated the systems")
    return float(seen.half_widths.mean())


def main() -> None:
    run, other = (load(path, words=False) for path in sys.argv[1:3])
    splits = int(sys.argv[3]) if len(sys.argv) > 3 else 50
    truth = half_width(take_sample(other))
    people = len(other.assignments["worker"].cat.categories)
    errors = []
    for split in range(splits):
        pilot = take_sample(half_of(run, np.random.default_rng(split)))
        found = plan_run(fit(pilot, split), people, [], Costs(None, 0, np.nan), 0.05, EXPERIMENTS, split)
        errors.append(found.expected[1].half_width / truth - 1)
    off = np.array(errors)
    print(f"run 2: half-width {truth:.4f} with {people} workers; foretold from {splits} halves of run 1:")
    print(f"mean error {100 * off.mean():+.1f} %, root mean square {100 * np.sqrt((off**2).mean()):.1f} %")
    low, high = 100 * np.quantile(off, [0.025, 0.975])
    print(f"95 % of the errors from {low:+.1f} to {high:+.1f} %")


if __name__ == "__main__":
    main()
