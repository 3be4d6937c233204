"""Scores by scenario, of single replies and beside people, and correlations between the criteria."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from qc.analysis import analyse
from qc.comparison.several_runs import set_side_by_side
from qc.errors import EmptyRunError
from qc.judgments.read import from_sample
from qc.method.sample import Sample, take_sample
from qc.method.scores import (
    Scores,
    TurnRatings,
    correlate_criteria,
    describe_turn_ratings,
    find_ceiling,
    score,
    score_scenarios,
)
from qc.render import tables
from qc.render.page import page
from qc.render.sentences import verdict
from qc.run import Run
from qc.sections.systems.ranking import ranking
from qc.sections.systems.scores import turn_ratings
from qc.statistics.rank_tests import rank_sum_less
from tests.qc.support.analyses import QUICK, awkward_run

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


def scores_of(**columns: list[float]) -> Scores:
    """Return scores of as many systems as there are values; raw scores are the negative of z."""
    criteria = pd.DataFrame(columns)
    table = criteria.copy()
    table.insert(0, "overall", criteria.mean(axis=1))
    table.insert(0, "n", 7)
    table.insert(0, "system", [f"s{number}" for number in range(len(criteria))])
    return Scores(z=table, raw=table.assign(**(-(criteria**3))))


def test_by_hand() -> None:
    # fun 1, 2, 4 and clear 2, 1, 6: means 7/3 and 3; sum of products 2 + 2 + 24 - 3 · 7/3 · 3 = 7, of squares
    # 21 - 49/3 = 14/3 and 41 - 27 = 14: r = 7 / √(14/3 · 14) = √3 / 2. Ranks 1, 2, 3 and 2, 1, 3: ρ = 1/2.
    found = correlate_criteria(scores_of(fun=[1.0, 2, 4], clear=[2.0, 1, 6]))
    assert list(found) == ["z", "raw"]
    assert found["z"].names == ("overall", "fun", "clear")
    assert found["z"].pearson[1, 2] == pytest.approx(np.sqrt(3) / 2, abs=1e-14)
    assert found["z"].spearman[1, 2] == pytest.approx(0.5, abs=1e-14)
    # The raw scores are another function of the systems: their ranks agree with one another as before.
    assert found["raw"].spearman[1, 2] == pytest.approx(0.5, abs=1e-14)
    assert found["raw"].pearson[1, 2] != pytest.approx(found["z"].pearson[1, 2], abs=0.01)
    for table in (found["z"].pearson, found["z"].spearman):
        assert table.diagonal() == pytest.approx([1, 1, 1], abs=1e-14)
        np.testing.assert_array_equal(table, table.T)


def test_a_criterion_that_does_not_vary_has_no_correlation() -> None:
    found = correlate_criteria(scores_of(fun=[1.0, 2, 4], clear=[1 / 3, 1 / 3 + 1e-16, 1 / 3]))["z"]
    for table in (found.pearson, found.spearman):
        assert np.isnan(table[2]).all()
        assert np.isnan(table[:, 2]).all()
        assert table[0, 1] == pytest.approx(1, abs=1e-14)


def test_systems_without_a_score_take_no_part() -> None:
    nan = np.nan
    three = correlate_criteria(scores_of(fun=[1.0, 2, 4], clear=[2.0, 1, 6]))["z"]
    four = correlate_criteria(scores_of(fun=[1.0, 2, 4, nan], clear=[2.0, 1, 6, nan]))["z"]
    np.testing.assert_array_equal(four.pearson, three.pearson)
    two = correlate_criteria(scores_of(fun=[1.0, 2, nan], clear=[2.0, 1, nan]))["z"]
    assert np.isnan(two.pearson).all()
    assert np.isnan(two.spearman).all()


@pytest.mark.published
@pytest.mark.parametrize("run", ["free_run1", "free_run2"])
@pytest.mark.parametrize(
    ("scale", "name"), [("z", "corr_between_scores.csv"), ("raw", "corr_between_raw_scores.csv")]
)
def test_the_published_tables(
    published: Path, published_sample: Callable[[str, str], Sample], run: str, scale: str, name: str
) -> None:
    found = correlate_criteria(score(published_sample(run, "mturk_batch.csv")))
    golden = pd.read_csv(published / "golden" / run / name, index_col=0)
    names = ["overall", *golden.columns[1:]]
    rows = np.ix_(*[[found[scale].names.index(label) for label in names]] * 2)
    # Pearson above the diagonal, Spearman below.
    ours = np.triu(found[scale].pearson[rows], 1) + np.tril(found[scale].spearman[rows], -1)
    np.testing.assert_allclose(ours, golden.fillna(0).to_numpy(), rtol=0, atol=1e-6)


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


PERSON = "plain"
MET = replace(CALM, people=frozenset({PERSON}))


def test_a_run_without_people_has_no_ceiling() -> None:
    sample = take_sample(CALM)
    assert find_ceiling(sample, score(sample)) is None


def test_people_have_the_scores_that_they_would_have_as_a_system_and_compete_with_none() -> None:
    as_system, sample = take_sample(CALM), take_sample(MET)
    assert (sample.screening.workers["p"].dropna() == as_system.screening.workers["p"].dropna()).all()
    scores, before = score(sample), score(as_system)
    assert PERSON not in set(scores.z["system"])
    assert set(scores.z["system"]) == set(before.z["system"]) - {PERSON}
    found = find_ceiling(sample, scores)
    assert found is not None
    for here, there in ((found.z, before.z), (found.raw, before.raw)):
        expected = there[there["system"] == PERSON].reset_index(drop=True)
        assert here.to_dict("records") == expected.to_dict("records")


def test_each_system_stands_beside_people_on_each_criterion() -> None:
    sample = take_sample(MET)
    scores = score(sample)
    found = find_ceiling(sample, scores)
    assert found is not None
    labels = ["overall", *MET.criteria["label"]]
    assert len(found.pairs) == len(scores.z) * len(labels)
    assert found.pairs["criterion"].to_list()[: len(labels)] == labels
    system, label = scores.z["system"].iloc[0], labels[1]
    row = found.pairs.set_index(["system", "criterion"]).loc[(system, label)]
    theirs, its = (
        sample.z[sample.kept & (MET.conversations["system"] == name).to_numpy(), 0]
        for name in (PERSON, system)
    )
    assert row["difference"] == pytest.approx(theirs.mean() - its.mean())
    assert row["p"] == pytest.approx(rank_sum_less(its.round(9), theirs.round(9)))


def test_the_report_calls_people_the_ceiling_and_the_verdict_does_not_name_them() -> None:
    analysis = analyse(MET, QUICK)
    shown = ranking(analysis).frame
    assert shown["system"].iloc[0] == f"{PERSON} (human, the ceiling)"
    assert shown["rank"].iloc[0] == "–"
    assert not any(PERSON in sentence for sentence in verdict(analysis).sentences)
    assert analysis.significance is None or PERSON not in analysis.significance.systems
    made = tables(analysis)
    assert PERSON not in set(made["system_scores.csv"].frame["model"])
    html = page(analysis, made, {})
    assert "human, the ceiling" in html
    assert 'id="ceiling"' in html


def test_people_are_no_system_whose_mean_is_estimated() -> None:
    judgments = from_sample(take_sample(MET), None)
    assert PERSON not in judgments.systems
    assert judgments.belongs.any(axis=1).all(), "every output belongs to a system"


@pytest.mark.parametrize("section", ["filter", "intervals", "significance"])
def test_people_alone_are_no_run_that_can_be_analysed(section: str) -> None:
    alone = replace(CALM, people=frozenset(CALM.systems.loc[~CALM.systems["is_qc"], "system"]))
    options = replace(QUICK, sections=frozenset({section}))
    said = "only people and the quality-control bot took part"
    with pytest.raises(EmptyRunError, match=said):
        analyse(alone, options)
    with pytest.raises(EmptyRunError, match=said):
        analyse(CALM, options, alone)
    with pytest.raises(EmptyRunError, match=said):
        set_side_by_side([awkward_run(seed=2), alone], options)
    with pytest.raises(EmptyRunError, match=said):
        from_sample(take_sample(alone), None)
