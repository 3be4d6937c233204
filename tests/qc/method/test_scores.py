"""Scores by scenario, with intervals, and a word of caution where few workers carry one."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from qc.method.sample import take_sample
from qc.method.scores import score, score_scenarios
from tests.qc.support.analyses import awkward_run

CALM = awkward_run()


def test_a_run_without_scenarios_has_no_section() -> None:
    sample = take_sample(replace(CALM, scenarios=None))
    assert score_scenarios(sample, score(sample), 200, 0) is None


def test_scores_are_the_means_of_the_kept_conversations_in_a_scenario() -> None:
    sample = take_sample(CALM)
    odd = np.arange(len(CALM.conversations)) % 2 == 1
    run = replace(CALM, scenarios=pd.Series(pd.Categorical(np.where(odd, "shop", "trip"))))
    found = score_scenarios(take_sample(run), score(sample), 200, 0)
    assert found is not None
    assert found.notes == ()
    table = found.table.set_index(["scenario", "system"])
    shop = sample.counted & odd
    assert table.loc[("shop", ""), "n"] == shop.sum()
    assert table.loc[("shop", ""), "z"] == pytest.approx(sample.overall["z"][shop].mean())
    plain = shop & (CALM.conversations["system"] == "plain").to_numpy()
    row = table.loc[("shop", "plain")]
    assert (row["n"], row["workers"]) == (plain.sum(), plain.sum())  # each worker met it once
    assert row["z"] == pytest.approx(sample.overall["z"][plain].mean())
    assert row["low"] < row["z"] < row["high"]
    assert table.index[:2].to_list() == [("shop", ""), ("shop", score(sample).z["system"].iloc[0])]


def test_a_scenario_that_few_workers_carry_is_named() -> None:
    sample = take_sample(CALM)
    few = np.full(len(CALM.conversations), "trip", dtype=object)
    few[np.flatnonzero(sample.counted)[:1]] = "shop"
    run = replace(CALM, scenarios=pd.Series(pd.Categorical(few)))
    found = score_scenarios(take_sample(run), score(sample), 200, 0)
    assert found is not None
    (note,) = found.notes
    assert "shop (1)" in note
    assert "trip" not in note
    assert np.isnan(found.table.set_index(["scenario", "system"]).loc[("shop", ""), "low"])
