"""Measure tests and intervals of single outputs: personas, control items, sides, metrics, judges.

Units are independent in all of them, and nothing differs unless a design says so.
"""

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.estimators import OUTPUTS
from benchmarks.running_coverage import drawn
from benchmarks.truth.part import Count, Counted, Part, any_below, below, held
from qc.comparison.side_by_side import compare
from qc.estimators.metric_agreement import compare_metrics
from qc.estimators.pool_mean import Interval, on_pool, resampled_means
from qc.estimators.randomisation import randomise
from qc.loading.choices import Choices
from qc.method.filter import worker_p_values
from qc.method.scores import score
from qc.metrics.against_people import judge_noise
from qc.planning.comparison import normal_labels
from qc.precision.confidence_sequence import TIGHTEST, asymptotic, worker_stream
from qc.robustness.persona import persona_effect
from qc.run import Run
from qc.statistics.confidence import LEVEL, holm
from qc.transcripts.controls import describe_controls
from qc.transcripts.filter import chance_passes
from qc.transcripts.judgments import take_judgments
from tests.qc.support.samples import sample_of_arrays
from tests.qc.support.transcripts import loaded, simulated

PERSONA = ("persona, rank sum, as published",)
CONTROLS = ("distance of control items held (95)",)
PASSES = ("workers who cannot tell bad twins pass: said", "workers who cannot tell bad twins pass: is so")
SIDES = ("a side is preferred (≤ 5)", "a worker prefers systems to the QC bot (≤ 5)")
DRAWN = tuple(
    f"mean{of} held: {unit} drawn anew" for of in ("", " with a metric") for unit in ("outputs", "workers")
)
SO_FAR = ("ever missed: a score so far (≤ 5)", "p of a random worker so far (≤ 5)")
WILLIAMS = ("one metric correlates more strongly (≤ 5)", "any of three, with Holm (≤ 5)")
JUDGE = ("order of a judge's questions held (95)",)
WRONG = (
    "a new sample puts two systems in the other order: said",
    "a new sample puts two systems in the other order: is so",
)
HOLM = ("any of three equal systems differs, with Holm (≤ 5)",)

PERSONAS = {f"persona-{workers}": workers for workers in (12, 40)}
LISTS = {f"lists-{workers}": workers for workers in (8, 16, 40)}
CHOOSING = {f"sides-{workers}": workers for workers in (8, 20, 60)}
RESAMPLED = {
    f"resampled-{workers}{'-habits' if habit else ''}": (workers, habit)
    for workers in (10, 30)
    for habit in (0.0, 0.5)
}
LENGTHS = {f"so-far-{workers}": workers for workers in (40, 160, 640)}
METRICS = {f"systems-{systems}": systems for systems in (6, 10, 20)}
JUDGED = {f"judged-twice-{number}": number for number in (10, 30, 100)}
APART = {f"apart-{errors}": errors for errors in (0, 1, 3)}
EXCHANGED = {f"exchanged-{units}": units for units in (8, 20, 60)}


def _personas(key: str) -> Count:
    workers = PERSONAS[key]

    def count(number: int) -> Mapping[str, Counted]:
        rng = np.random.default_rng([21, number, workers])
        who, what = (each.ravel() for each in np.indices((workers, 4)))
        sample = sample_of_arrays(who, what, rng.normal(size=(len(who), 1)))
        systems = sample.run.systems.assign(family=["a", "a", "b", "b", "qc"])
        systems["has_persona"] = [True, False, True, False, False]
        sample = replace(sample, run=replace(sample.run, systems=systems))
        found = persona_effect(sample, score(sample))
        return {PERSONA[0]: below([each.p_rank_sum for each in found.families])} if found else {}

    return count


@cache
def _lists(workers: int) -> Run:
    """Return a run of workers who rated lists of items, with six bad twins and two references each."""
    ratings = simulated(np.random.default_rng(0), careful=workers, random=0)
    with tempfile.TemporaryDirectory() as folder:
        return loaded(ratings, Path(folder))


def _rated(run: Run, bad: float, spread: float, rng: np.random.Generator) -> Run:
    """Return `run` with new ratings: bad twins `bad` points higher, for a worker more or less by `spread`."""
    worker = run.conversations["worker"].cat.codes.to_numpy()
    kind = run.items["kind"].to_numpy(str) if run.items is not None else np.array([])
    shift = np.where(kind == "bad", bad + rng.normal(0, spread, worker.max() + 1)[worker], 0.0)
    item = rng.normal(50 + shift, 12)[:, None]
    return replace(run, ratings=run.ratings * 0 + item + rng.normal(0, 6, run.ratings.shape))


def _controls(key: str) -> Count:
    run = _lists(LISTS[key])

    def count(number: int) -> Mapping[str, Counted]:
        rng = np.random.default_rng([22, number, LISTS[key]])
        made = _rated(run, -40.0, 8.0, rng)
        table = describe_controls(made, take_judgments(made, 0.999)).table
        bad = table[(table["kind"] == "bad") & (table["group"] == "passed")]
        low, high = (bad[end].to_numpy(np.float64) for end in ("low", "high"))
        random = _rated(run, 0.0, 0.0, rng)
        sample = take_judgments(random)
        said, workers = chance_passes(sample, number).share, len(sample.screening.workers)
        passed = float(sample.screening.workers["passed"].sum())
        of = (held(low, high, np.full(len(low), -40.0)), (said * workers, workers), (passed, workers))
        return dict(zip((*CONTROLS, *PASSES), of, strict=True))

    return count


def _sides(key: str) -> Count:
    workers, each = CHOOSING[key], 8

    def count(number: int) -> Mapping[str, Counted]:
        rng = np.random.default_rng([23, number, workers])
        rows = pd.DataFrame(
            {
                "worker": np.repeat([f"w{worker:02}" for worker in range(workers)], 2 * each),
                "left": np.where(np.arange(2 * each * workers) % 2, "one", "qc"),
                "right": "other",
                "preference": rng.choice(["left", "tie", "right"], 2 * each * workers, p=(0.4, 0.2, 0.4)),
            }
        )
        rows = rows.assign(assignment=rows["worker"], pair=rows.groupby("worker").cumcount() + 1, turn=3)
        found = compare(
            Choices("made up", "here", rows, ("one", "other"), frozenset({"qc"}), False, ()), bootstrap=1
        )
        return dict(zip(SIDES, (below([found.side_p]), below(found.workers["p"])), strict=True))

    return count


def _resampled(key: str) -> Count:
    workers, habit = RESAMPLED[key]

    def count(number: int) -> Mapping[str, Counted]:
        rng = np.random.default_rng([24, number, workers, int(10 * habit)])
        quality = rng.standard_normal(2 * OUTPUTS)
        pool = on_pool(quality + 0.5 * rng.standard_normal(2 * OUTPUTS))
        outputs, by = np.arange(OUTPUTS), rng.permutation(OUTPUTS) % workers
        values = quality[:OUTPUTS] + habit * rng.standard_normal(workers)[by] + rng.standard_normal(OUTPUTS)
        found: list[Interval] = []
        for units in (outputs, by):
            weights = np.ones(OUTPUTS)
            found += resampled_means(values, pool[:OUTPUTS], weights, units, pool[OUTPUTS:], LEVEL, 199, rng)
        of = [(float(one.low <= 0 <= one.high), 1) for one in (found[0], found[2], found[1], found[3])]
        return dict(zip(DRAWN, of, strict=True))

    return count


def _so_far(key: str) -> Count:
    workers = LENGTHS[key]
    z, passed = drawn(100_000, np.random.default_rng(0))
    truth = z[passed].mean(axis=0)

    def count(number: int) -> Mapping[str, Counted]:
        rng = np.random.default_rng([25, number, workers])
        z, passed = drawn(workers, rng)
        of = np.flatnonzero(passed)
        sequences = [asymptotic(worker_stream(each, of), 0.05, TIGHTEST) for each in z[of].T]
        missed = [
            bool((np.abs(each.centre - true) > each.half_width).any())
            for each, true in zip(sequences, truth, strict=True)
        ]
        # Of workers who set sliders anywhere, after the bot and two of the systems.
        owner, is_qc = np.repeat(np.arange(workers), 3), np.tile([True, False, False], workers)
        ratings = rng.integers(0, 101, (len(owner), 7)).astype(np.float64)
        p = worker_p_values(ratings, owner, is_qc, workers)
        return dict(zip(SO_FAR, ((float(sum(missed)), len(missed)), below(p)), strict=True))

    return count


def _williams(key: str) -> Count:
    systems = METRICS[key]

    def count(number: int) -> Mapping[str, Counted]:
        rng = np.random.default_rng([26, number, systems])
        people, *metrics = _scores(systems, rng)
        pairs = ((0, 1), (0, 2), (1, 2))
        p = [compare_metrics(people, (str(a), metrics[a]), (str(b), metrics[b])).p for a, b in pairs]
        return dict(zip(WILLIAMS, (below(p[:1]), any_below(holm(np.array(p)))), strict=True))

    return count


def _scores(systems: int, rng: np.random.Generator) -> list[dict[str, float]]:
    """Return people's scores, and those of three metrics that correlate with them at .7."""
    quality = rng.normal(size=systems)
    scores = [quality, *(0.7 * quality + np.sqrt(1 - 0.7**2) * rng.normal(size=(3, systems)))]
    return [{f"s{system:02}": float(value) for system, value in enumerate(of)} for of in scores]


def _judge(key: str) -> Count:
    conversations = JUDGED[key]

    def count(number: int) -> Mapping[str, Counted]:
        rng = np.random.default_rng([27, number, conversations])
        # A judge gives tens, and 3 points more on average where criteria are asked forwards.
        given = rng.normal(60, 15, (conversations, 1, 1)) + rng.normal(0, 8, (conversations, 2, 2))
        found = judge_noise(10 * np.rint((given + np.array([3.0, 0.0])[:, None]) / 10))
        return {JUDGE[0]: held(np.array([found.low]), np.array([found.high]), np.array([3.0]))}

    return count


def _wrong(key: str) -> Count:
    apart = APART[key]

    def count(number: int) -> Mapping[str, Counted]:
        rng = np.random.default_rng([28, number, apart])
        true = rng.normal(0, apart, 100) if apart else np.zeros(100)
        seen, again = true + rng.normal(size=(2, 100))
        said = normal_labels(seen, np.ones(100)).wavers
        return dict(
            zip(WRONG, ((float(said.sum()), 100), (float((seen * again < 0).sum()), 100)), strict=True)
        )

    return count


def _exchanged(key: str) -> Count:
    units = EXCHANGED[key]

    def count(number: int) -> Mapping[str, Counted]:
        rng = np.random.default_rng([29, number, units])
        scores: NDArray[np.float64] = rng.normal(size=units) + rng.exponential(size=(3, units))
        pairs = ((0, 1), (0, 2), (1, 2))
        p = np.array([randomise(scores[a], scores[b], rng, 499).p for a, b in pairs])
        return {HOLM[0]: any_below(holm(p))}

    return count


PARTS = {
    "persona": Part(
        {"A persona that does nothing, by the published test": PERSONA},
        {key: f"{workers} workers who met two families" for key, workers in PERSONAS.items()},
        _personas,
    ),
    "controls": Part(
        {"Control items, and workers who cannot tell them": (*CONTROLS, *PASSES)},
        {key: f"{workers} workers with six bad twins" for key, workers in LISTS.items()},
        _controls,
    ),
    "sides": Part(
        {"Choices at random": SIDES},
        {key: f"{workers} workers who choose at random" for key, workers in CHOOSING.items()},
        _sides,
    ),
    "resampled": Part(
        {"Means of judgments from units drawn anew": DRAWN},
        {
            key: f"{workers} workers{' with habits' if habit else ''}, one judgment of each output"
            for key, (workers, habit) in RESAMPLED.items()
        },
        _resampled,
    ),
    "so-far": Part(
        {"A run that is watched": SO_FAR},
        {key: f"{workers} workers, looked at after each" for key, workers in LENGTHS.items()},
        _so_far,
    ),
    "williams": Part(
        {"Metrics that correlate equally": WILLIAMS},
        {key: f"{systems} systems, three metrics" for key, systems in METRICS.items()},
        _williams,
    ),
    "judge": Part(
        {"A judge who is asked in two orders": JUDGE},
        {key: f"{number} conversations, judged in both orders" for key, number in JUDGED.items()},
        _judge,
    ),
    "wrong-order": Part(
        {"The order of two systems in a new sample": WRONG},
        {
            key: f"true differences of {errors} standard errors" if errors else "no true differences"
            for key, errors in APART.items()
        },
        _wrong,
    ),
    "exchanges-holm": Part(
        {"Approximate randomisation of three equal systems": HOLM},
        {key: f"{units} units, three systems" for key, units in EXCHANGED.items()},
        _exchanged,
    ),
}
