"""Measure scores with the style of replies held constant, and the coefficients of style and place.

Systems and workers differ in how long replies are and how many emoji they hold. Length moves the ratings, of
some workers more than of others; emoji and places do not. Every worker has a taste for each system. The truth
of a score is that of the replies of the run: the system's quality, and what the average style adds.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.truth.part import Count, Counted, Part, held
from qc.method.sample import Sample
from qc.method.scores import score
from qc.robustness.style import FEATURES, StyleControl, control_style
from qc.run import Words
from tests.qc.support.samples import sample_of_arrays

COLUMNS = (
    "score with style held constant: held (95)",
    "change by style: held (95)",
    "coefficient of a feature: held (95)",
    "coefficient of a place: held (95)",
)
QUALITY = np.array([0.3, 0.1, 0.0, -0.1, -0.3])
# Of the logarithm of words: of each system, of workers, and of conversations.
LENGTH, LENGTH_OF_WORKER, LENGTH_OF_CONVERSATION = np.array([3.2, 2.8, 2.6, 2.4, 2.0]), 0.2, 0.4
SLOPE, SLOPE_SD, TASTE, NOISE = 0.4, 0.3, 0.4, 0.7


@dataclass(frozen=True)
class Design:
    """Workers who meet every system once in each of their assignments."""

    name: str
    workers: int
    assignments: int = 1
    slope: float = SLOPE


DESIGNS = {
    "style-12": Design("12 workers, length matters", 12),
    "style-16-many": Design("16 workers × 8 assignments, length matters", 16, 8),
    "style-20": Design("20 workers, length matters", 20),
    "style-40": Design("40 workers, length matters", 40),
    "style-40-null": Design("40 workers, style does not matter", 40, slope=0.0),
    "style-150": Design("150 workers, length matters", 150),
}


@dataclass(frozen=True)
class _Made:
    """A run, its features as logarithms, (rows, 2), and what they add to z."""

    sample: Sample
    logs: NDArray[np.float64]
    slopes: NDArray[np.float64]


def _made(design: Design, rng: np.random.Generator) -> _Made:
    met, systems = len(QUALITY), []
    for _ in range(design.workers * design.assignments):
        systems.append(rng.permutation(met))
    what = np.concatenate(systems)
    who = np.repeat(np.arange(design.workers), design.assignments * met)
    length = (
        LENGTH[what]
        + rng.normal(0, LENGTH_OF_WORKER, design.workers)[who]
        + rng.normal(0, LENGTH_OF_CONVERSATION, len(what))
    )
    words = np.maximum(np.rint(np.exp(length)), 1).astype(np.intp)
    emoji = rng.poisson(np.where(what < 2, 1.0, 0.3) * rng.gamma(2.0, 0.5, design.workers)[who])
    logs = np.log1p(np.column_stack([words, emoji]).astype(np.float64))
    own = rng.normal(design.slope, SLOPE_SD if design.slope else 0.0, design.workers)[who]
    z = (
        QUALITY[what]
        + own * logs[:, 0]
        + rng.normal(0, TASTE, (design.workers, met))[who, what]
        + rng.normal(0, NOISE, len(what))
    )
    sample = sample_of_arrays(who, what, z[:, None])
    rows = np.arange(len(what), dtype=np.int32)
    replies = ["😀" * int(smiles) + "word " * int(count) for count, smiles in zip(words, emoji, strict=True)]
    nothing = pd.DataFrame({"conversation": [], "round": []})
    said = pd.DataFrame(
        {"conversation": rows, "round": 1, "input": "hello", "reply": pd.Series(replies, dtype="str")}
    )
    place = pd.DataFrame({"position": np.tile(np.arange(1, met + 1), design.workers * design.assignments)})
    run = replace(sample.run, conversations=place, words=Words(said, nothing, nothing))
    return _Made(replace(sample, run=run), logs, np.array([design.slope, 0.0]))


def _truth(made: _Made, found: StyleControl) -> tuple[NDArray[np.float64], ...]:
    """Return the true controlled scores, changes and coefficients, in the order of the result."""
    systems = found.systems["system"].str.removeprefix("s").astype(int).to_numpy()
    added = made.logs @ made.slopes
    own = np.array([added[made.sample.systems == each].mean() for each in systems])
    by_feature = dict(zip(("words", "emoji"), made.slopes * made.logs.std(axis=0), strict=True))
    coefficients = np.array([by_feature.get(name, np.nan) for name in FEATURES])
    return QUALITY[systems] + added.mean(), added.mean() - own, coefficients


def _counting(key: str) -> Count:
    design = DESIGNS[key]

    def count(number: int) -> Mapping[str, Counted]:
        made = _made(design, np.random.default_rng([23, number, design.workers]))
        found = control_style(made.sample, score(made.sample))
        if found is None or found.why_not:
            return {}
        controlled, change, coefficients = _truth(made, found)
        counts = (
            _held(found.systems, "low", "high", controlled),
            _held(found.systems, "change_low", "change_high", change),
            _held(found.features, "low", "high", coefficients),
            _held(found.places, "low", "high", np.zeros(len(found.places))),
        )
        return dict(zip(COLUMNS, counts, strict=True))

    return count


def _held(table: pd.DataFrame, low: str, high: str, truth: NDArray[np.float64]) -> Counted:
    return held(table[low].to_numpy(np.float64), table[high].to_numpy(np.float64), truth)


PARTS = {
    "style": Part(
        {"Scores with style held constant": COLUMNS},
        {key: design.name for key, design in DESIGNS.items()},
        _counting,
    )
}
