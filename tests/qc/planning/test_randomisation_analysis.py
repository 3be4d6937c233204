"""Exchanges within workers, raters against averages, and how even a design is."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from qc.errors import OptionError, ReplicationError
from qc.judgments import read_judgments
from qc.planning.opinion import SystemOpinion, opinion
from qc.planning.randomisation_analysis import (
    FIRST,
    SECOND,
    STEPS,
    RandomisationOptions,
    Within,
    agree,
    analyse_randomisation,
    evenness,
)
from tests.qc.support.judgment_files import write_judgments

DEFAULT = RandomisationOptions(None, 999, 0)


def test_within_workers_by_hand(small_opinion: SystemOpinion) -> None:
    found = analyse_randomisation(small_opinion, DEFAULT).pairs
    assert found.within is Within.WORKER
    assert list(zip(found.first, found.second, strict=True)) == [("a", "b"), ("a", "c"), ("b", "c")]
    # Both workers give the same differences of their means: of four exchanges two are as far from 0.
    assert [test.difference for test in found.tests] == [-5, -12.5, -7.5]
    assert [(test.units, test.p) for test in found.tests] == [(2, 0.5)] * 3
    assert found.holm.tolist() == [1, 1, 1]


def test_within_workers_and_items(small_opinion: SystemOpinion) -> None:
    found = analyse_randomisation(small_opinion, replace(DEFAULT, within=Within.BOTH)).pairs
    # a and b: −10 and 0 for either worker; of 16 exchanges those are as far that turn both −10 alike: 8.
    assert (found.tests[0].units, found.tests[0].p) == (4, 0.5)
    # a and c: −15, −10, −15, −10: only all or none.
    assert (found.tests[1].units, found.tests[1].p) == (4, 2 / 16)


def test_without_workers_scores_are_exchanged_within_items(small_opinion: SystemOpinion) -> None:
    unknown = replace(small_opinion, workers=None)
    found = analyse_randomisation(unknown, DEFAULT)
    assert found.pairs.within is Within.ITEM
    assert found.pairs.tests[0].units == 2
    assert found.pools == []
    with pytest.raises(OptionError, match="--within item"):
        analyse_randomisation(unknown, replace(DEFAULT, within=Within.WORKER))


def test_nothing_to_exchange(published: Path) -> None:
    run = opinion(read_judgments(str(published / "published" / "free_run1" / "hits_data.json")))
    with pytest.raises(OptionError, match="nothing to exchange"):
        analyse_randomisation(run, replace(DEFAULT, within=Within.ITEM))


def test_the_same_seed_gives_the_same_p_whatever_else_is_tested(published: Path) -> None:
    run = opinion(read_judgments(str(published / "published" / "free_run1" / "hits_data.json")))
    first, second = (analyse_randomisation(run, DEFAULT).pairs.tests for _ in range(2))
    assert first == second
    assert analyse_randomisation(run, replace(DEFAULT, seed=1)).pairs.tests != first
    assert all(0 < test.p <= 1 for test in first)


def test_two_pools_of_workers_agree_far_better_than_their_members(published: Path) -> None:
    runs = published / "published"
    one, two = (
        opinion(read_judgments(str(runs / run / "hits_data.json")), z=True)
        for run in ("free_run1", "free_run2")
    )
    own_one, own_two, across, back = agree(one, two)
    assert (across.raters, across.average) == (FIRST, SECOND)
    assert across.agreement.averages == back.agreement.averages > 0.95
    assert len(across.agreement.single) == len(own_one.agreement.single) == 173
    for single in (own_one, own_two, across, back):
        assert 0.3 < single.agreement.mean < 0.7


def test_pools_with_too_little_in_common(small_opinion: SystemOpinion, tmp_path: Path) -> None:
    lines = [f"i{n},{system},w{n},{n},0" for system in ("a", "b", "x") for n in range(3)]
    other = opinion(read_judgments(str(write_judgments(tmp_path / "other.csv", lines))))
    with pytest.raises(ReplicationError, match="only 2 of its systems"):
        agree(small_opinion, other)


def test_a_balanced_design(small_opinion: SystemOpinion) -> None:
    found = {each.of: each.found for each in evenness(small_opinion)}
    assert set(found) == {"worker × system", "item × system", "worker × item"}
    assert {each.difference for each in found.values()} == {0}
    assert found["worker × system"].fewest == 2


def test_a_judgment_too_many_is_seen(small_opinion: SystemOpinion, tmp_path: Path) -> None:
    path = tmp_path / "positions.csv"
    path.write_text(
        "item,system,worker,value,position\n"
        + "i1,a,w1,1,1\ni2,b,w1,2,2\ni2,a,w2,1,2\ni1,b,w2,2,1\ni1,a,w3,3,1\n",
        encoding="utf-8",
    )
    found = {each.of: each.found for each in evenness(opinion(read_judgments(str(path))))}
    assert found["position × system"].most == 2
    assert found["position × system"].difference == 1
    assert found["worker × system"].fewest == 0


@pytest.mark.parametrize(("draws", "seed", "named"), [(10, 0, "--draws"), (999, -1, "--seed")])
def test_options_that_make_no_sense(draws: int, seed: int, named: str) -> None:
    with pytest.raises(OptionError, match=named):
        RandomisationOptions(None, draws, seed)


def test_steps_are_as_many_as_announced(small_opinion: SystemOpinion) -> None:
    steps: list[str] = []
    analyse_randomisation(small_opinion, DEFAULT, None, steps.append)
    assert len(steps) == STEPS


def test_a_rater_who_judged_no_system_in_common_has_no_r(small_opinion: SystemOpinion) -> None:
    assert small_opinion.workers is not None
    alone = replace(
        small_opinion, workers=np.where(small_opinion.system_codes == 2, 2, small_opinion.workers)
    )
    (found,) = agree(alone, None)
    assert np.isnan(found.agreement.single).all()
    assert np.isnan(found.agreement.mean)
