"""Tests of ratings of single replies: means by system, and correlation with the conversation's score."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from qc.method.sample import take_sample
from qc.method.scores import TurnRatings, describe_turn_ratings, score
from qc.run import Run
from qc.sections.systems.scores import turn_ratings
from tests.qc.support.analyses import awkward_run

CALM = awkward_run()


def described(values: list[tuple[int, int, float]], run: Run = CALM) -> TurnRatings | None:
    rated = pd.DataFrame(values, columns=["conversation", "turn", "value"])
    sample = take_sample(replace(run, turn_ratings=rated.astype({"value": float})))
    return describe_turn_ratings(sample, score(sample), 200, 0)


def test_nothing_asked_is_no_section() -> None:
    sample = take_sample(replace(CALM, turn_ratings=None))
    assert describe_turn_ratings(sample, score(sample), 200, 0) is None


def test_means_are_of_the_replies_that_workers_who_passed_have_rated() -> None:
    sample = take_sample(CALM)
    plain = np.flatnonzero((CALM.conversations["system"] == "plain").to_numpy() & sample.kept)
    failed = np.flatnonzero((CALM.conversations["system"] == "plain").to_numpy() & ~sample.kept)
    first, second = plain[:2].tolist()
    found = described([(first, 1, 100), (first, 3, 100), (second, 1, 0), (int(failed[0]), 1, 0)])
    assert found is not None
    row = found.systems.set_index("system").loc["plain"]
    assert (row["rated"], row["workers"], row["replies"]) == (3, 2, len(plain))  # one reply in each
    assert row["mean"] == pytest.approx(200 / 3)
    assert row[["low", "high"]].isna().all()  # two workers say too little of others
    assert found.systems["system"].iloc[-1] == "qc"
    assert found.systems.set_index("system").loc["qc", "rated"] == 0


def test_a_single_worker_gives_no_interval() -> None:
    sample = take_sample(CALM)
    row = int(np.flatnonzero(sample.counted)[0])
    found = described([(row, 1, 50)])
    assert found is not None
    rated = found.systems[found.systems["rated"] > 0]
    assert rated["mean"].to_list() == [50]
    assert rated[["low", "high"]].isna().all(axis=None)
    assert np.isnan(found.r)


def test_replies_that_go_with_the_score_are_seen() -> None:
    sample = take_sample(CALM)
    rows = np.flatnonzero(sample.counted)
    overall = sample.overall["z"][rows]
    lowest, highest = overall.min(), overall.max()
    values = [
        (int(r), 1, float(100 * (z - lowest) / (highest - lowest)))
        for r, z in zip(rows, overall, strict=True)
    ]
    found = described(values)
    assert found is not None
    assert found.conversations == len(rows)
    assert found.r == pytest.approx(1)
    assert np.isnan(
        [found.r_low, found.r_high]
    ).all()  # all workers do the same, which says nothing of others
    other = [(row, turn, value + 20 * (row % 3)) for row, turn, value in values]
    less = described(other)
    assert less is not None
    assert less.r_low < less.r < less.r_high < 1


def test_replies_of_people_are_there_and_marked_and_in_no_correlation() -> None:
    person = "plain"
    met = replace(CALM, people=frozenset({person}))
    sample = take_sample(met)
    theirs = np.flatnonzero((met.conversations["system"] == person).to_numpy() & sample.kept)
    values = [(int(row), 1, 10.0 * number) for number, row in enumerate(theirs[:6])]
    found = described(values, met)
    assert found is not None
    first = found.systems.iloc[0]
    assert (first["system"], first["human"], first["rated"], first["mean"]) == (person, True, 6, 25)
    assert first["low"] < 25 < first["high"]
    assert found.systems["human"].sum() == 1
    assert found.conversations == 0
    shown = turn_ratings(found)
    assert shown.shown_rows["system"].iloc[0] == "plain (human, the ceiling)"
    assert shown.frame["system"].iloc[0] == "plain"
