"""Measure scores by area of the topic, of equal systems, where the topic does not move the ratings.

Workers differ in how often they choose each area. So the effect of an area is 0, and the score of a system in
an area is the score of the system.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from benchmarks.truth.one_run import EQUAL, truth_of
from benchmarks.truth.part import Count, Counted, Part, below, held, without_nought
from qc.method.sample import take_sample
from qc.method.scores import score
from qc.robustness.topic_areas import score_topic_areas
from qc.run import Run
from tests.qc.support.designs import run_of, with_context

DRAWS = 499
COLUMNS = (
    "area of the topic: F (≤ 5)",
    "area of the topic: intervals without 0 (≤ 5)",
    "a system's score in an area: held (95)",
)
# One topic of each area, and one that no area knows.
TOPICS = ("dogs", "pizza", "movies", "football", "travel", "music", "coronavirus", "hobbies")
DESIGNS = {key: EQUAL[key].name for key in ("twenty-equal", "forty-equal", "tastes-equal", "published-equal")}


def _with_topics(run: Run, rng: np.random.Generator) -> Run:
    """Return `run` with opening topics; every worker likes some areas more than others."""
    said = with_context(run, rng)
    if said.words is None:
        raise AssertionError("the context has words")
    workers = run.conversations["worker"].cat.codes.to_numpy()
    tastes = rng.dirichlet(np.ones(len(TOPICS)), int(workers.max()) + 1)
    chosen = (rng.random((len(workers), 1)) > tastes.cumsum(axis=1)[workers]).sum(axis=1)
    named = np.array(TOPICS)[np.minimum(chosen, len(TOPICS) - 1)]
    return replace(said, words=replace(said.words, topics=said.words.topics.assign(topic=named)))


def _counting(key: str) -> Count:
    design = EQUAL[key]
    truth = float(truth_of(design).z[0, 0])

    def count(number: int) -> Mapping[str, Counted]:
        rng = np.random.default_rng([24, number])
        sample = take_sample(_with_topics(run_of(design, rng), rng))
        found = score_topic_areas(sample, score(sample), DRAWS, number)
        if found is None or found.effect is None:
            return {}
        low, high = (found.systems[end].to_numpy(np.float64) for end in ("low", "high"))
        counts = (
            below([found.effect.p]),
            without_nought(found.effect),
            held(low, high, np.full(len(low), truth)),
        )
        return dict(zip(COLUMNS, counts, strict=True))

    return count


PARTS = {"areas": Part({"Scores by area of the topic": COLUMNS}, DESIGNS, _counting)}
