"""People in a chatbot's place: beside the systems, and in no comparison among them."""

from dataclasses import replace

import pytest

from qc.analysis import analyse
from qc.comparison.several_runs import set_side_by_side
from qc.errors import EmptyRunError
from qc.judgments.read import from_sample
from qc.method.sample import take_sample
from qc.method.scores import find_ceiling, score
from qc.render import tables
from qc.render.page import page
from qc.render.sentences import verdict
from qc.sections.systems.ranking import ranking
from qc.statistics.rank_tests import rank_sum_less
from tests.qc.support.analyses import QUICK, awkward_run

CALM = awkward_run()
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
