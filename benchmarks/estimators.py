"""Do the intervals of `qc.estimate` keep their word? Made-up judgments whose truth is known, many times over.

    python benchmarks/estimators.py [EXPERIMENTS]

First table: intervals that are looked at after every judgment from 20 to 500. It says in how many experiments
an interval missed the truth at any look, and how wide it was at the last, where there was one.

Second table: a rule that stops once an interval is ± 0.1, or at 500. It says in how many experiments it
stopped by that, after how many judgments on average (500 where it did not), and in how many the interval at
which it ended missed the truth.

Third table: intervals at a fixed size. Workers have habits of their own (a shift that all of a worker's
judgments share), outputs differ, a metric follows the outputs, and part of the pool is left unrated. It says
how often each 95 % interval held the true mean, without and with the metric, and how much narrower the metric
made the one of record.
"""

import sys
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from qc.command import progress
from qc.estimators.pool_mean import Interval, on_pool, pool_means, predictable_residuals
from qc.precision.confidence_sequence import FIRST_LOOK, ConfidenceSequence, asymptotic, bounded

Array = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], tuple[Array, Array]]
LEVEL, LAST, TIGHTEST = 0.95, 500, 100
TARGET = 0.1
OUTPUTS = 300


def three_levels(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
    """Judgments 0, ½, 1, mostly in the middle, and a metric that follows them at r of about 0.5."""
    values = rng.choice([0.0, 0.5, 1.0], n, p=[0.3, 0.4, 0.3])
    return values, (values - 0.5) / 0.3873 + 1.7 * rng.standard_normal(n)


def slider(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
    """Judgments on a slider, spread over all of it with many at the upper end, and a metric likewise."""
    quality = rng.standard_normal(n)
    values = np.clip(0.7 + 0.2 * quality + 0.2 * rng.standard_normal(n), 0, 1)
    return values, quality + rng.standard_normal(n)


def seldom(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
    """One judgment of twenty is 1, all others 0, and a metric that knows nothing."""
    return (rng.random(n) < 0.05).astype(np.float64), rng.standard_normal(n)


def mostly_top(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
    """Nine of ten judgments are the highest of five levels, and a metric that knows nothing."""
    values = rng.choice([0.0, 0.25, 0.5, 0.75, 1.0], n, p=[0.01, 0.01, 0.02, 0.06, 0.9])
    return values, rng.standard_normal(n)


def long_tail(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
    """Log-normal judgments, most of them low and a few very high, and a metric that follows them."""
    quality = rng.standard_normal(n)
    return np.clip(np.exp(quality) / 50, 0, 1), quality + rng.standard_normal(n)


def longer_tail(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
    """Judgments with a still longer tail, and a metric that knows nothing."""
    return np.clip(np.exp(1.5 * rng.standard_normal(n)) / 100, 0, 1), rng.standard_normal(n)


def near_the_end(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
    """A slider that most leave near its upper end, and a metric that knows nothing."""
    return rng.beta(5, 0.5, n), rng.standard_normal(n)


DRAWN: tuple[Draw, ...] = (
    three_levels,
    slider,
    seldom,
    mostly_top,
    long_tail,
    longer_tail,
    near_the_end,
)


def truth_of(draw: Draw) -> float:
    return float(draw(np.random.default_rng(0), 4_000_000)[0].mean())


def looked_at(draw: Draw, truth: float, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return whether each interval ever missed, and its half-width at the last look, both (4,)."""
    values, metric = draw(rng, LAST)
    # The pool is endless, so its moments are known.
    g = metric / metric.std()
    n = np.arange(1, LAST + 1)
    means = np.cumsum(values) / n
    sd = np.sqrt(np.maximum(np.cumsum(values**2) / n - means**2, 0) * n / np.maximum(n - 1, 1))
    plain = asymptotic(values, 1 - LEVEL, TIGHTEST)
    varied = asymptotic(predictable_residuals(values, g), 1 - LEVEL, TIGHTEST, values)
    exact = bounded(values, 1 - LEVEL)
    reached = [
        (means, 1.959963984540054 * sd / np.sqrt(n)),
        *((each.centre, each.half_width) for each in (plain, varied, exact)),
    ]
    missed = [(np.abs(centre - truth) > reach)[FIRST_LOOK - 1 :].any() for centre, reach in reached]
    return np.array(missed, np.float64), np.array([reach[-1] for _, reach in reached])


def stopped(draw: Draw, truth: float, rng: np.random.Generator) -> Array:
    """Return whether each rule stopped by itself, at which n it ended, and whether it missed: (3, 3).

    The rules look at the interval for a fixed n, the asymptotic sequence, and the exact one.
    """
    values, _ = draw(rng, LAST)
    n = np.arange(1, LAST + 1)
    means = np.cumsum(values) / n
    sd = np.sqrt(np.maximum(np.cumsum(values**2) / n - means**2, 0) * n / np.maximum(n - 1, 1))
    rules = (
        ConfidenceSequence(means, 1.959963984540054 * sd / np.sqrt(n)),
        asymptotic(values, 1 - LEVEL, TIGHTEST),
        bounded(values, 1 - LEVEL),
    )
    ended = []
    for rule in rules:
        first = rule.first_within(TARGET)
        at = first or LAST
        missed = abs(rule.centre[at - 1] - truth) > rule.half_width[at - 1]
        ended.append((first is not None, at, missed))
    return np.array(ended, np.float64)


def at_a_fixed_size(
    workers: int, each: int, habit: float, rng: np.random.Generator
) -> tuple[tuple[Interval, ...], float]:
    """Return the intervals (independent, of record; each without and with metric), and the true mean.

    Args:
        workers: how many, who judge in turn.
        each: judgments of every rated output, from different workers.
        habit: sd of what a worker adds to all their judgments; the noise of a single one is 1.
        rng: source of everything.
    """
    quality = rng.standard_normal(2 * OUTPUTS)
    pool = on_pool(quality + 0.5 * rng.standard_normal(2 * OUTPUTS))
    outputs = np.repeat(np.arange(OUTPUTS), each)
    turn = np.concatenate([rng.permutation(workers) for _ in range(len(outputs) // workers + 1)])
    by = turn[: len(outputs)]
    values = quality[outputs] + habit * rng.standard_normal(workers)[by] + rng.standard_normal(len(outputs))
    plain, varied = pool_means(values, outputs, by, pool, LEVEL)
    return (plain.normal, plain.clustered, varied.normal, varied.clustered), 0.0


def tables(count: int, on_step: Callable[[str], None]) -> Iterator[str]:
    yield f"{count} experiments a line; 95 % intervals"
    yield f"looked at after each judgment from {FIRST_LOOK} to {LAST}:"
    yield "ever missed in %, and half-width at the last look"
    yield "judgments       fixed n        any n          any n, metric  any n, exact"
    for number, draw in enumerate(DRAWN):
        truth, rng = truth_of(draw), np.random.default_rng([1, number])
        on_step(f"Looking at {draw.__name__}")
        found = [looked_at(draw, truth, rng) for _ in range(count)]
        missed, reach = (np.nanmean([each[at] for each in found], axis=0) for at in (0, 1))
        cells = "  ".join(f"{100 * m:5.1f}  {w:.3f} " for m, w in zip(missed, reach, strict=True))
        yield f"{draw.__name__:14} {cells}"
    yield ""
    yield f"stopped once the interval is ± {TARGET}: stopped in %, mean number of judgments, missed in %"
    yield "judgments             fixed n               any n                any n, exact"
    for number, draw in enumerate(DRAWN):
        truth, rng = truth_of(draw), np.random.default_rng([3, number])
        on_step(f"Stopping {draw.__name__}")
        ends = np.mean([stopped(draw, truth, rng) for _ in range(count)], axis=0)
        cells = "  ".join(f"{100 * each:5.1f} {at:5.0f} {100 * missed:5.1f} " for each, at, missed in ends)
        yield f"{draw.__name__:14} {cells}"
    yield ""
    yield f"at a fixed size, {OUTPUTS} of {2 * OUTPUTS} outputs rated:"
    yield "held the truth in %, and width of record with the metric / without"
    yield "workers  judgments each  habit  independent  of record  with metric: independent  of record  width"
    for workers in (10, 30, 100, 300):
        for each in (1, 2):
            for habit in (0.0, 0.5):
                on_step(f"{workers} workers, {each} judgments each")
                rng = np.random.default_rng([2, workers, each, int(10 * habit)])
                made = [at_a_fixed_size(workers, each, habit, rng) for _ in range(count)]
                held = np.mean(
                    [[i.low <= truth <= i.high for i in intervals] for intervals, truth in made], axis=0
                )
                width = np.mean([[i.width for i in intervals] for intervals, _ in made], axis=0)
                yield (
                    f"{workers:7} {each:15} {habit:6.1f} {100 * held[0]:13.1f} {100 * held[1]:10.1f} "
                    f"{100 * held[2]:26.1f} {100 * held[3]:10.1f} {width[3] / width[1]:7.3f}"
                )


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    with progress(Console(stderr=True), 2 * len(DRAWN) + 16) as on_step:
        lines = list(tables(count, on_step))
    print("\n".join(lines))


if __name__ == "__main__":
    main()
