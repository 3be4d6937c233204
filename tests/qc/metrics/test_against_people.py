"""Metrics of a run held against its workers: one that is what people say, one that is its opposite."""

from dataclasses import replace

import numpy as np
import pytest

from qc.errors import EmptyRunError
from qc.method.sample import Sample, take_sample
from qc.method.scores import score
from qc.metrics.against_people import AgainstPeople, halfway, hold_against_people
from qc.metrics.figures import metric_ranks
from qc.metrics.findings import metrics_findings
from qc.metrics.metric_table import MetricScores, mean_by_system
from tests.qc.support.samples import sample_of_arrays
from tests.qc.support.spoken import spoken_run

DRAWS = 200


@pytest.fixture(scope="module")
def sample() -> Sample:
    return take_sample(spoken_run())


@pytest.fixture(scope="module")
def found(sample: Sample) -> AgainstPeople:
    z = sample.overall["z"]
    rng = np.random.default_rng(5)
    metrics = [
        MetricScores("people", "test", True, z),
        MetricScores("opposite", "test", True, -z),
        MetricScores("lower is better", "test", False, 3 - 2 * z),
        MetricScores("noise", "test", True, rng.normal(size=len(z))),
        MetricScores("flat", "test", True, np.ones(len(z))),
        # chatty, echo, plain, qc
        MetricScores("by system", "test", True, None, np.array([1.0, 2, np.nan, 9])),
    ]
    return hold_against_people(sample, metrics, DRAWS, 0)


def on(found: AgainstPeople, metric: str, criterion: str = "overall"):  # type: ignore[no-untyped-def]
    return next(each for each in found.agreements if (each.metric, each.on) == (metric, criterion))


def test_a_metric_that_is_what_people_say_agrees_wholly(found: AgainstPeople) -> None:
    agreement = on(found, "people").systems
    assert agreement.n == 3
    assert agreement.pearson.value == pytest.approx(1)
    assert agreement.kendall.value == 1
    assert agreement.pairwise_accuracy == 1
    by_conversation = found.conversations[0]
    assert by_conversation.r.value == pytest.approx(1)
    assert by_conversation.within.value == pytest.approx(1)
    # As over systems, an r of 1 has no interval: the transformed r is infinite.
    assert np.isnan(by_conversation.r.low)


def test_a_metric_of_which_less_is_better_is_turned_around(found: AgainstPeople) -> None:
    assert on(found, "opposite").systems.pearson.value == pytest.approx(-1)
    assert on(found, "lower is better").systems.pearson.value == pytest.approx(1)
    assert on(found, "lower is better").systems.pairwise_accuracy == 1
    np.testing.assert_allclose(found.metrics[2], 3 - 2 * found.metrics[0])


def test_people_and_metrics_are_means_over_the_same_conversations(
    found: AgainstPeople, sample: Sample
) -> None:
    np.testing.assert_allclose(found.metrics[0], score(sample).z["overall"])


def test_every_criterion_has_its_own_agreement(found: AgainstPeople) -> None:
    assert {each.on for each in found.agreements} == {"overall", "fun", "topic"}
    assert len(found.agreements) == 6 * 3


def test_a_metric_that_does_not_vary_agrees_with_nobody(found: AgainstPeople) -> None:
    assert np.isnan(on(found, "flat").systems.pearson.value)
    assert on(found, "flat").systems.pairwise_accuracy == 0.5
    assert not any("flat" in (each.better, each.worse) for each in found.williams)


def test_a_metric_that_lacks_a_system(found: AgainstPeople) -> None:
    assert on(found, "by system").systems.n == 2
    assert "by system has no score of plain." in found.notes
    assert "by system" not in {name for name, _ in found.prefilter}
    assert "by system" not in {each.metric for each in found.conversations}


def test_the_qc_bot_is_scored_and_takes_no_part(found: AgainstPeople, sample: Sample) -> None:
    assert "qc" not in set(found.human.z["system"])
    assert found.qc[0] == pytest.approx(sample.overall["z"][sample.is_qc & sample.kept].mean())
    assert found.qc[5] == 9


def test_filtering_first_loses_the_best_by_the_opposite(found: AgainstPeople) -> None:
    halves = dict(halfway(found))
    assert halves["people"].best_kept
    # Of 3 systems 2 are kept; by the opposite chatty goes, and the next best is plain.
    assert not halves["opposite"].best_kept
    z = found.human.z["overall"]
    assert halves["opposite"].regret == pytest.approx(z[0] - z[1])


def test_ranks(found: AgainstPeople) -> None:
    ranks = metric_ranks(found)
    np.testing.assert_array_equal(ranks[0], [1, 2, 3])
    np.testing.assert_array_equal(ranks[1:4], [[1, 2, 3], [3, 2, 1], [1, 2, 3]])
    np.testing.assert_array_equal(ranks[5], [2, 2, 2])


def test_another_metric_moves_no_interval(sample: Sample) -> None:
    noise = MetricScores("noise", "test", True, np.random.default_rng(5).normal(size=len(sample.workers)))
    other = replace(noise, name="other")
    alone = hold_against_people(sample, [noise], DRAWS, 0)
    beside = hold_against_people(sample, [other, noise], DRAWS, 0)
    assert alone.conversations[0] == beside.conversations[1]


def test_four_workers_give_r_no_interval() -> None:
    rng = np.random.default_rng(7)
    for workers, known in ((4, False), (12, True)):
        who, what = (each.ravel() for each in np.indices((workers, 4)))
        z = rng.normal(size=len(who))
        scored = MetricScores("noisy", "replies", True, z + rng.normal(size=len(who)))
        (agreement,) = hold_against_people(
            sample_of_arrays(who, what, z[:, None]), [scored], DRAWS, 0
        ).conversations
        assert np.isfinite([agreement.r.value, agreement.within.value]).all()
        assert (np.isfinite([agreement.r.low, agreement.r.high]) == known).all()
        assert not known or agreement.r.low < agreement.r.value < agreement.r.high


def test_missing_scores_are_left_out_of_the_means() -> None:
    scores = np.array([1.0, np.nan, 3.0, 5.0, np.nan])
    systems = np.array([0, 0, 0, 1, 2])
    found = mean_by_system(scores, systems, 3, np.array([True, True, True, False, True]))
    np.testing.assert_array_equal(found, [2, np.nan, np.nan])


def test_two_systems_are_too_few(sample: Sample) -> None:
    few = sample.systems == 0
    kept = replace(sample, is_qc=sample.is_qc | ~few)
    with pytest.raises(EmptyRunError, match="people's scores are known of 1 system,"):
        hold_against_people(kept, [MetricScores("m", "test", True, sample.overall["z"])], DRAWS, 0)


def test_no_interval_is_given_for_other_workers(sample: Sample, found: AgainstPeople) -> None:
    # Resamples of the workers, which it was made of, held 52 to 87 % and lay too low.
    table = metrics_findings(sample, found, None, None, "").tables[0]
    assert table.table.frame.columns.str.endswith("low").sum() == 3  # of r, ρ and τ, for other systems
    assert "other workers" not in table.text
