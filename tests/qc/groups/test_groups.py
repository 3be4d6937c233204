"""Tests of results by group of workers: the known fields, withheld groups, and weighting to a population."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from qc.errors import OptionError
from qc.groups import WhoseOpinion, whose_opinion
from qc.groups.population import WorkerField, fields_of, population
from qc.groups.whose_opinion import OTHERS, margin_fields, shown_groups
from qc.method.sample import Sample
from qc.method.scores import score
from qc.options import Margins
from qc.run import Answers
from qc.sections.workers import groups as tables
from tests.qc.support.samples import sample_of


def people(sizes: dict[str, int], likes: dict[str, tuple[float, float]]) -> Sample:
    """Return a sample in which everybody rates a and b by the group they are in, a little unevenly."""
    rows, groups = [], {}
    for group, size in sizes.items():
        for number in range(size):
            worker = f"{group}{number:03}"
            groups[worker] = group
            moved = 0.1 if number % 2 else -0.1
            rows += [(worker, system, z + moved) for system, z in zip("ab", likes[group], strict=True)]
    sample = sample_of(rows)
    background = pd.DataFrame({"worker": list(groups), "age": list(groups.values())})
    return replace(sample, run=replace(sample.run, background=background))


def opinion(sample: Sample, margins: Margins | None = None) -> WhoseOpinion:
    found = whose_opinion(sample, score(sample), margins, seed=3)
    assert found is not None
    return found


OPPOSED = {"young": (1.0, 0.0), "old": (0.0, 1.0)}


def test_nothing_known_is_no_section() -> None:
    sample = sample_of([("w1", "a", 1.0), ("w2", "a", 0.0)])
    assert whose_opinion(sample, score(sample), None, 0) is None


def test_groups_that_think_the_opposite_change_all_places() -> None:
    found = opinion(people({"young": 20, "old": 12}, OPPOSED))
    (field,) = found.fields
    old, young = field.groups
    assert (old.group, old.people, young.people) == ("old", 12, 20)
    ranks = dict(zip(found.systems, zip(old.rank, young.rank, strict=True), strict=True))
    assert ranks == {"a": (2, 1), "b": (1, 2)}
    assert (old.rank_low == old.rank).all()
    assert (old.rank_high == old.rank).all()
    assert field.places is not None
    assert field.places.moved == 1.0  # each of two systems lies one place apart
    assert field.places.chance < 0.9
    # The smallest p that 999 deals can give, and the field is the only one. Half of all deals move two
    # systems past one another, but none of them with scores as far apart.
    assert field.places.p_scores == field.p_scores_holm == 1 / 1000
    assert field.places.p == field.p_holm == 1 / 1000


def test_groups_that_think_alike_move_no_more_than_chance() -> None:
    found = opinion(people({"young": 20, "old": 20}, {"young": (1.0, 0.0), "old": (1.0, 0.0)}))
    (field,) = found.fields
    assert field.places is not None
    assert (field.places.moved, field.places.p, field.places.p_scores) == (0.0, 1.0, 1.0)


@pytest.mark.parametrize(
    ("sizes", "shown"),
    [
        ({"x": 10, "y": 30}, ["x", "y"]),
        ({"x": 9, "y": 30}, []),  # 9 are too few, and 39 − 30 would tell what they think
        ({"x": 3, "y": 12, "z": 30}, ["z"]),  # 15 are left when z is subtracted
        ({"x": 4, "y": 6, "z": 30}, ["z"]),  # the two are 10 together
    ],
)
def test_small_groups_are_withheld_and_cannot_be_subtracted(sizes: dict[str, int], shown: list[str]) -> None:
    likes = dict.fromkeys(sizes, (1.0, 0.0))
    found = opinion(people(sizes, likes))
    (field,) = found.fields
    assert [group.group for group in field.groups] == shown
    assert field.withheld == len(sizes) - len(shown)
    assert bool(found.notes) == (field.withheld > 0)
    table = tables.standings(found)
    assert (table is None) == (not shown)


def test_who_is_in_no_group_cannot_be_subtracted_either() -> None:
    codes = np.array([0] * 20 + [1] * 30 + [-1] * 5)
    (shown,) = shown_groups([WorkerField("age", ("x", "y"), codes)])
    assert shown.tolist() == [False, True]


def test_a_group_within_another_of_another_field_is_withheld_where_few_are_between() -> None:
    ten_years, five_years = np.repeat([0, 1], [30, 30]), np.repeat([0, 1], [25, 35])
    fields = [WorkerField("decade", ("a", "b"), ten_years), WorkerField("half", ("a", "b"), five_years)]
    decade, half = shown_groups(fields)
    # The 25 lie within the 30, and the 30 of the other end within the 35: 5 people are between.
    assert not (decade.all() and half.all())
    between = {(0, 0), (1, 0)} <= {
        (n, g) for n, may in enumerate((decade, half)) for g in np.flatnonzero(may)
    }
    assert not between


def test_one_field_is_raked_to_the_mean_of_its_groups_at_their_shares() -> None:
    sample = people({"young": 20, "old": 12}, OPPOSED)
    found = opinion(sample, {"age": {"old": 0.75, "young": 0.25}})
    assert found.population is not None
    raked = dict(zip(found.systems, found.population.by_raking.score, strict=True))
    assert raked["a"] == pytest.approx(0.75 * 0.0 + 0.25 * 1.0)
    assert raked["b"] == pytest.approx(0.75)
    # Weights are 0.75 / (12 / 32) = 2 and 0.25 / (20 / 32) = 0.4: 32² / (12 · 4 + 20 · 0.16) are 20 people.
    assert found.population.effective == pytest.approx(20.0)
    # Each worker lies 0.1 beside their group's mean, so the groups' means have variances of 0.01 / (n − 1),
    # and the weighted mean that of Σ share² of these, which the jackknife leaves a little wider.
    error = np.sqrt(0.75**2 * 0.01 / 11 + 0.25**2 * 0.01 / 19)
    half = found.population.by_raking.high[0] - found.population.by_raking.score[0]
    assert half / error == pytest.approx(2.093, rel=0.05)  # t with 19 degrees of freedom
    modelled = dict(zip(found.systems, found.population.by_model.score, strict=True))
    assert modelled["a"] == pytest.approx(raked["a"], abs=0.01)  # groups so clearly apart lean on nothing


def test_a_model_of_groups_that_differ_by_noise_leans_on_everybody() -> None:
    rng = np.random.default_rng(5)
    values, codes = rng.normal(0, 1, (200, 1)), rng.integers(0, 8, 200)
    field = WorkerField("town", tuple("abcdefgh"), codes)
    shares = np.array([0.65, *[0.05] * 7])
    found = population(values, [field], [shares])
    assert found is not None
    raked, modelled = (abs(each.score[0] - values.mean()) for each in (found.by_raking, found.by_model))
    assert modelled < raked
    assert found.by_model.high[0] - found.by_model.low[0] < found.by_raking.high[0] - found.by_raking.low[0]


def test_withheld_groups_are_weighted_together() -> None:
    sample = people({"x": 4, "y": 6, "z": 30}, dict.fromkeys("xyz", (1.0, 0.0)))
    found = opinion(sample, {"age": {"x": 0.1, "y": 0.2, "z": 0.7}})
    (margin,) = found.margins
    assert margin.field.groups == ("z", OTHERS)
    assert margin.shares == pytest.approx([0.7, 0.3])
    table = tables.margins(found)
    assert table is not None
    assert set(table.frame["people"]) == {30, 10}


def test_others_of_the_margins_are_not_few_because_some_are_in_no_group() -> None:
    codes = np.array([0] * 4 + [1] * 20 + [2] * 30 + [-1] * 8)
    field = WorkerField("age", ("x", "y", "z"), codes)
    (shown,) = shown_groups([field])
    assert shown.tolist() == [False, True, True]  # 12 are left
    (margin,) = margin_fields({"age": {"x": 0.2, "y": 0.4, "z": 0.4}}, [field], [shown])
    assert margin.field.groups == ("z", OTHERS)


@pytest.mark.parametrize(
    ("margins", "said"),
    [
        ({"size": {"x": 1.0}}, "has the fields size, but this run has these fields of its workers: age"),
        ({"age": {"young": 1.0}}, "no share of old in age"),
    ],
)
def test_margins_of_other_fields_or_groups_are_refused(margins: Margins, said: str) -> None:
    with pytest.raises(OptionError, match=said):
        opinion(people({"young": 20, "old": 12}, OPPOSED), margins)


def test_a_part_of_the_population_that_nobody_is_of_is_said() -> None:
    sample = people({"young": 20, "old": 12}, OPPOSED)
    found = opinion(sample, {"age": {"old": 0.4, "young": 0.4, "oldest": 0.2}})
    assert any("20.0 % of the population" in note for note in found.notes)
    assert found.margins[0].shares == pytest.approx([0.5, 0.5])


def test_what_was_asked_before_is_a_field_and_the_file_goes_first() -> None:
    sample = sample_of([(f"w{number:02}", "a", 1.0) for number in range(12)])
    workers = sample.screening.workers["worker"].to_list()
    names = [f"a{worker}" for worker in workers]
    questions = pd.DataFrame(
        {
            "part": ["before", "before", "before", "conversation"],
            "label": ["tongue", "years", "why", "tired"],
            "kind": ["choice", "number", "text", "choice"],
            "question": "?",
            "choices": [("other", "English"), (), (), ("yes", "no")],
            "points": 0,
        }
    )
    given = pd.DataFrame(
        {
            "assignment": [*names, names[0], *names],
            "conversation": None,
            "system": None,
            "part": "before",
            "label": ["tongue"] * 13 + ["years"] * 12,
            "text": [*["English"] * 6, *["other"] * 6, "other", *[None] * 12],
            "number": [*[np.nan] * 13, *range(20, 32)],
        }
    )
    run = replace(
        sample.run,
        assignments=pd.DataFrame({"assignment": names, "worker": workers}),
        answers=Answers(questions, given),
        background=pd.DataFrame({"worker": workers, "years": ["9"] * 12}),
    )
    found = {field.name: field for field in fields_of(replace(sample, run=run))}
    assert found.keys() == {"tongue", "years"}
    assert found["tongue"].groups == ("other", "English")
    assert found["tongue"].codes.tolist() == [1] * 6 + [0] * 6  # the first answer of w00 counts
    assert found["years"].groups == ("9",)
    of_answers = {
        field.name: field for field in fields_of(replace(sample, run=replace(run, background=None)))
    }
    # Quartiles of 20 to 31 are 22.75, 25.5 and 28.25.
    bands = ("up to 22.75", "22.75 to 25.50", "25.50 to 28.25", "over 28.25")
    assert of_answers["years"].groups == bands
    assert np.bincount(of_answers["years"].codes).tolist() == [3, 3, 3, 3]
