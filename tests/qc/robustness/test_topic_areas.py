"""Scores by area of the topic: areas of topics, an effect by hand, and refusals."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from qc.method.sample import Sample
from qc.method.scores import score
from qc.method.topic_areas import area_names, areas_of
from qc.robustness.topic_areas import TopicAreas, score_topic_areas
from qc.run import REMOVED, Words
from tests.qc.support.samples import sample_of_arrays


@pytest.mark.parametrize(
    ("topic", "area"),
    [
        ("Dogs!", "pets and animals"),
        ("my favourite pizzas", "food and drink"),
        ("video  games", "games"),
        ("Disney movies", "film and television"),
        ("the climate-change", "nature, weather and space"),
        ("cooking for cats", "food and drink"),
        ("carpets", "other"),
        ("hotdog", "other"),
        ("Katzen", "other"),
    ],
)
def test_a_topic_is_of_the_area_of_its_first_known_word(topic: str, area: str) -> None:
    assert area_names()[areas_of(pd.Series([topic]))[0]] == area


def scored(topics: list[str], z: list[float], workers: int) -> TopicAreas | None:
    """Return the scores by area of one system, whose conversations have these topics in turn."""
    count = len(topics)
    sample = sample_of_arrays(np.arange(count) % workers, np.zeros(count, int), np.array(z)[:, None])
    rows = np.arange(count, dtype=np.int32)
    nothing = pd.DataFrame({"conversation": [], "round": []})
    named = pd.DataFrame({"conversation": rows, "round": 0, "topic": pd.Series(topics, dtype="str")})
    said: Sample = replace(sample, run=replace(sample.run, words=Words(nothing, named, nothing)))
    return score_topic_areas(said, score(said), 200, 0)


def test_an_effect_by_hand_and_few_workers() -> None:
    # Twelve workers talk of dogs (z of 1 and 0 in turn: mean 1/2) and of food (−1 and 0: −1/2), four of them
    # of music (0). The mean of the system is 0, so the effects are these means.
    topics = ["dogs"] * 12 + ["food"] * 12 + ["music"] * 4
    found = scored(topics, [1.0, 0.0] * 6 + [-1.0, 0.0] * 6 + [0.0] * 4, 12)
    assert found is not None
    assert found.effect is not None
    effects = {level.name: level for level in found.effect.levels}
    assert effects["pets and animals"].effect == pytest.approx(0.5)
    assert effects["food and drink"].effect == pytest.approx(-0.5)
    assert found.few == ("music",)
    assert found.recognised == 1
    table = found.systems.set_index("area")
    assert table.loc["pets and animals", ["n", "workers", "z"]].tolist() == [12, 12, 0.5]
    assert np.isnan(table.loc["music", "z"])


def test_topics_that_no_area_knows_or_of_one_area_are_refused() -> None:
    foreign = scored(["Katzen"] * 9 + ["pizza"] * 3, [0.0] * 12, 12)
    assert foreign is not None
    assert foreign.why_not.startswith("Only 25 % of the opening topics")
    alike = scored(["pizza"] * 12, [0.0] * 12, 12)
    assert alike is not None
    assert alike.why_not == "All topics are of one area: food and drink."
    assert scored([REMOVED] * 12, [0.0] * 12, 12) is None
