"""Does the forecast of a second run keep its word? Experiments made up, each forecast and then run again.

    python benchmarks/forecast_calibration.py [EXPERIMENTS]

Every experiment draws its systems' true qualities, then two runs with workers of their own, as noisy as
benchmarks/crowd_calibration.py found those of the published run 1. From the first run the second one's r is
forecast; the table says how far the forecast is off, how often the second run's r lies below, in and above
the interval, and how often it would lie within the mere spread of the split halves, corrected one by one.
"""

import sys

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.method.sample import Sample, take_sample
from qc.method.scores import score
from qc.robustness.forecast import forecast
from qc.robustness.intervals import means_of_sums, worker_sums
from qc.run import Run
from qc.statistics.correlation import pearson_of_rows
from qc.statistics.resampling import half_sums, percentile_interval

FAMILIES = 5
STRONG, WEAK = 5, 2  # criteria that count for quality control, and that do not
SD_WORKER, SD_CONVERSATION, SD_REST = 15.6, 15.8, 17.5
MEAN_STRONG, MEAN_WEAK, MEAN_QC = 43.0, 29.0, 5.0
CARELESS = 0.3  # of the workers rate at random
RETURNING = 0.15  # chance that a worker does one more assignment
SD_QUALITY = {"as published": 9.0, "close": 3.0}
WORKERS = (10, 18, 36, 72, 250)
MAXIMUM = 100.0


def run_of(quality: NDArray[np.float64], workers: int, rng: np.random.Generator) -> Run:
    """Return a run in which each assignment meets one of the two systems of every family, and the qc bot."""
    owner = np.repeat(np.arange(workers), rng.geometric(1 - RETURNING, workers))
    held = FAMILIES + 1
    systems = 2 * np.arange(FAMILIES) + rng.integers(0, 2, (len(owner), FAMILIES))
    systems = np.hstack([systems, np.full((len(owner), 1), 2 * FAMILIES)]).ravel()
    by_worker = np.repeat(owner, held)
    noise = (
        rng.normal(0, SD_WORKER, workers)[by_worker, None]
        + rng.normal(0, SD_CONVERSATION, (len(systems), 1))
        + rng.normal(0, SD_REST, (len(systems), STRONG + WEAK))
    )
    means = np.hstack([np.full(STRONG, MEAN_STRONG), np.full(WEAK, MEAN_WEAK)]) + quality[:, None]
    means = np.vstack([means, np.hstack([np.full(STRONG, MEAN_QC), np.full(WEAK, MEAN_WEAK)])])
    random = rng.random(workers)[by_worker, None] < CARELESS
    ratings = np.where(random, rng.uniform(0, MAXIMUM, noise.shape), means[systems] + noise)
    return _as_run(np.rint(np.clip(ratings, 0, MAXIMUM)), owner, by_worker, systems, held)


def _as_run(
    ratings: NDArray[np.float64],
    owner: NDArray[np.intp],
    by_worker: NDArray[np.intp],
    systems: NDArray[np.intp],
    held: int,
) -> Run:
    labels = [f"criterion {number}" for number in range(STRONG + WEAK)]
    names = [f"system {number}" for number in range(2 * FAMILIES)] + ["qc"]
    workers = [f"worker {number:04}" for number in range(owner.max() + 1)]
    assignments = [f"assignment {number:04}" for number in range(len(owner))]
    is_qc = np.arange(len(names)) == 2 * FAMILIES
    return Run(
        name="made up",
        source="made up",
        partial=False,
        criteria=pd.DataFrame(
            {
                "label": labels,
                "negative": False,
                "counts_for_qc": np.arange(len(labels)) < STRONG,
                "maximum": MAXIMUM,
            }
        ),
        systems=pd.DataFrame({"system": names, "family": names, "has_persona": False, "is_qc": is_qc}),
        assignments=pd.DataFrame({"assignment": assignments}),
        conversations=pd.DataFrame(
            {
                "assignment": pd.Categorical.from_codes(
                    np.repeat(np.arange(len(owner)), held), categories=assignments
                ),
                "worker": pd.Categorical.from_codes(by_worker, categories=workers),
                "system": pd.Categorical.from_codes(systems, categories=names),
                "is_qc": is_qc[systems],
            }
        ),
        ratings=pd.DataFrame(ratings, columns=labels),
    )


def overall(sample: Sample) -> NDArray[np.float64]:
    """Return the overall z of the systems, by name."""
    return score(sample).z.sort_values("system")["overall"].to_numpy(np.float64)


def spread_of_splits(sample: Sample, seed: int) -> tuple[float, float]:
    """Return the middle 95 % of the split halves' r, each corrected by itself."""
    sums = worker_sums(sample, score(sample), sample.overall["z"][:, None])
    halves = half_sums(sums.reshape(len(sums), -1), 1000, np.random.default_rng(seed))
    first, second = (means_of_sums(half.reshape(1000, -1, 2))[..., 0] for half in halves)
    r = np.maximum(pearson_of_rows(first, second), -1 / 3)
    low, high = percentile_interval(2 * r / (1 + r), 0.95)
    return float(low), float(high)


def experiment(sd: float, workers: int, rng: np.random.Generator) -> tuple[float, ...] | None:
    """Return workers who passed, r, its forecast, interval and spread; None without a forecast or r."""
    quality = rng.normal(0, sd, 2 * FAMILIES)
    first, second = (take_sample(run_of(quality, workers, rng)) for _ in range(2))
    seed = int(rng.integers(2**31))
    told = forecast(first, score(first), seed)
    r = float(pearson_of_rows(overall(first), overall(second)))
    if told is None or np.isnan(r):
        return None
    passed = float(first.screening.workers["passed"].sum())
    return (passed, r, told.r, told.low, told.high, *spread_of_splits(first, seed))


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    print(f"{count} experiments a line; bias and rmse of the forecast; shares in %")
    print(
        "systems       workers passed  mean r  forecast   bias   rmse   width   below   in above   in spread"
    )
    for name, sd in SD_QUALITY.items():
        for workers in WORKERS:
            rng = np.random.default_rng([workers, int(sd)])
            made = [experiment(sd, workers, rng) for _ in range(count)]
            passed, r, told, low, high, spread_low, spread_high = np.array([m for m in made if m]).T
            below, above = 100 * (r < low).mean(), 100 * (r > high).mean()
            in_spread = 100 * ((spread_low <= r) & (r <= spread_high)).mean()
            print(
                f"{name:13} {workers:7} {passed.mean():6.1f} {r.mean():7.3f} {told.mean():9.3f} "
                f"{(told - r).mean():6.3f} {np.sqrt(((told - r) ** 2).mean()):6.3f} "
                f"{(high - low).mean():7.3f} {below:7.1f} {100 - below - above:4.1f} {above:5.1f} "
                f"{in_spread:11.1f}"
            )


if __name__ == "__main__":
    main()
