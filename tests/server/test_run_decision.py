"""Tests of decisions by a run's rules: complete or not, how many may join. Numbers derived in comments."""

import math
from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.errors import RulesInvalid
from server.run_decision import Counts, Standing, completing, end_of, most_under_way, needed, slots_open
from server.run_rules import Budget, RunRules, Target, in_words, parse_rules

TWENTY = RunRules(target=Target(assignments=20))
# 3 and a third of it: 4 for each; 41 pay for 10.
PAID = RunRules(budget=Budget(total=Decimal(41), pay=Decimal(3), fee_share=Decimal("0.3333"), currency="GBP"))


def counts(completed: int, under_way: int = 0, dropped: int = 0) -> Standing:
    return Standing(Counts(under_way, completed, dropped))


def test_without_rules_nothing_ends_and_as_many_come_as_will() -> None:
    assert end_of(RunRules(), counts(10_000)) is None
    assert slots_open(RunRules(), counts(10_000)) is None


def test_a_target_of_assignments() -> None:
    assert end_of(TWENTY, counts(19)) is None
    end = end_of(TWENTY, counts(20))
    assert end is not None
    assert (end.cause, end.reason) == ("target", "The run reached its target: 20 assignments.")
    assert slots_open(TWENTY, counts(12, under_way=5)) == 3
    # 10 are still needed. With 13 under way p is 24/34, and 13 * 24/34 + 0.693 = 9.9 lets the 14th in.
    # With 14, p is 25/35, and 10 + 0.693 lets nobody in.
    assert slots_open(TWENTY, counts(10, under_way=12, dropped=10)) == 2
    assert slots_open(TWENTY, counts(10, under_way=30)) == 0


def test_a_target_of_conversations_goes_by_the_system_that_lacks_most() -> None:
    rules = RunRules(target=Target(conversations_per_system=30))
    met = {"one": 0.5, "two": 0.5, "three": 1.0}
    lacking = Standing(Counts(completed=50), {"one": 25, "two": 27, "three": 50}, met)
    assert needed(rules, lacking) == 10  # five more with `one`, which every second worker meets
    full = Standing(Counts(completed=60), {"one": 30, "two": 30, "three": 60}, met)
    assert end_of(rules, full) is not None
    assert needed(rules, Standing(met=met)) == 60  # nothing yet


def test_a_target_of_an_interval_goes_by_the_analysis() -> None:
    rules = RunRules(target=Target(widest_interval=0.3))
    assert needed(rules, counts(10)) is None  # nothing analysed yet: nobody knows
    assert slots_open(rules, counts(10)) is None
    wide = Standing(Counts(completed=40), widest=0.6)
    assert needed(rules, wide) == 120  # half as wide takes four times as many
    assert end_of(rules, wide) is None
    assert end_of(rules, Standing(Counts(completed=40), widest=0.3)) is None  # below, not at
    assert end_of(rules, Standing(Counts(completed=40), widest=0.29)) is not None


def test_a_budget_is_never_overspent_and_ends_the_run_when_it_pays_for_no_other() -> None:
    assert slots_open(PAID, counts(4, under_way=3)) == 3
    assert slots_open(PAID, counts(4, under_way=6)) == 0
    assert end_of(PAID, counts(9, under_way=1)) is None
    end = end_of(PAID, counts(10))
    assert end is not None
    assert end.cause == "budget"
    assert end.reason == "The budget of 41.00 GBP pays for no other assignment: 40.00 GBP are spent."


def test_who_left_with_a_report_is_paid_of_the_budget_and_fills_no_place() -> None:
    counts = Counts(under_way=1, completed=8, dropped=1, left_paid=1)
    assert slots_open(PAID, Standing(counts)) == 0  # of ten that it pays for
    assert slots_open(PAID, Standing(replace(counts, left_paid=0))) == 1
    assert end_of(PAID, Standing(replace(counts, completed=9))) is not None
    places = Standing(counts, slots=10)
    assert slots_open(RunRules(), places) == 1


def test_what_is_paid_besides_is_of_the_budget() -> None:
    # 1.5 rewards of 3 and bonuses of 2.50 are 7 and a third of it: 9.33. What is left of 41 pays for 7.
    besides = Counts(completed=4, part_paid=Decimal("1.5"), bonuses=Decimal("2.50"))
    assert slots_open(PAID, Standing(besides)) == 3
    assert slots_open(PAID, Standing(replace(besides, part_paid=Decimal(0), bonuses=Decimal(0)))) == 6
    # 7 of 4 are 28, and 9.33.
    end = end_of(PAID, Standing(replace(besides, completed=7)))
    assert end is not None
    assert end.reason == "The budget of 41.00 GBP pays for no other assignment: 37.33 GBP are spent."
    # More than there is may be decided: nobody comes any more.
    assert slots_open(PAID, Standing(replace(besides, bonuses=Decimal(50)))) == 0


def test_the_places_of_the_study_are_a_target_without_spare_ones() -> None:
    standing = Standing(Counts(under_way=3, completed=5, dropped=9), slots=10)
    assert slots_open(RunRules(), standing) == 2
    assert end_of(RunRules(), standing) is None
    assert end_of(RunRules(), Standing(Counts(completed=10), slots=10)) is not None
    assert end_of(TWENTY, Standing(Counts(completed=10), slots=10)) is not None  # 20 are out of reach


@given(
    completed=st.integers(0, 60),
    under_way=st.integers(0, 60),
    dropped=st.integers(0, 60),
    total=st.integers(1, 200),
    most=st.integers(1, 50),
)
def test_who_comes_breaks_no_bound(
    completed: int, under_way: int, dropped: int, total: int, most: int
) -> None:
    budget = Budget(total=Decimal(total), pay=Decimal(3))
    rules = RunRules(target=Target(assignments=40), budget=budget, most_at_once=most)
    places = slots_open(rules, Standing(Counts(under_way, completed, dropped)))
    assert places is not None
    if places:
        assert (completed + under_way + places) * 3 <= total
        assert under_way + places <= most
        assert completed < 40


def test_targets_in_words() -> None:
    assert in_words(None) == ""
    assert in_words(Target(assignments=1)) == "1 assignment"
    assert in_words(Target(conversations_per_system=40)) == "40 rated conversations of each system"
    assert in_words(Target(widest_interval=0.25)) == "the widest interval of a score below 0.25"


def test_rules_from_a_file() -> None:
    rules = parse_rules(
        "target: {assignments: 12}\n"
        "budget: {total: 150, pay: 2.40, fee_share: 0.3, currency: GBP}\n"
        "opening_hours: {time_zone: Europe/Berlin, hours: [{days: [fri], opens: 09:00, closes: 17:00}]}\n"
        "excluded_workers: [0012, ann]\n",
        "rules.yaml",
    )
    assert rules.budget is not None
    assert rules.budget.per_assignment == Decimal("3.12")
    assert rules.opening_hours is not None
    assert rules.opening_hours.hours[0].closes.hour == 17  # YAML itself would read 1020
    assert rules.excluded_workers == ("0012", "ann")
    assert parse_rules("", "empty.yaml") == RunRules()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "most_at_once: 3\ntarget:\n  assignmants: 40\n",
            "rules.yaml:3: target.assignmants: There is no such rule; did you mean “assignments”?",
        ),
        (
            "\nexcluded: [a]\n",
            "rules.yaml:2: excluded: There is no such rule; did you mean “excluded_runs”?",
        ),
        (
            "opening_hours:\n  hours:\n    - {opens: 09:00, closes: 17:00}\n    - {zzz: 1}\n  time_zone: "
            "UTC\n",
            "rules.yaml:4: opening_hours.hours.1.zzz: There is no such rule. Use “days”, “opens” or “closes”",
        ),
        (
            "\n\ntarget: {assignments: ten}",
            "rules.yaml:3: target.assignments: Enter a whole number",
        ),
        ("target: {assignments: 0}", "rules.yaml:1: target.assignments: Enter a number of at least 1"),
        ("target: 40", "rules.yaml:1: target: Enter settings, each as “name: value”"),
        ("excluded_runs: maxi", "rules.yaml:1: excluded_runs: Enter a list"),
        ("budget:\n  total: 10\n", "rules.yaml:1: budget.pay: This is required"),
        ("target: {}", "rules.yaml:1: target: Give one target: assignments"),
        (
            'target: {assignments: "\\e[31mred"}',
            "rules.yaml:1: target.assignments: Enter a whole number",
        ),
    ],
)
def test_a_mistake_is_said_with_its_line_in_plain_words(text: str, said: str) -> None:
    with pytest.raises(RulesInvalid) as refused:
        parse_rules(text, "rules.yaml")
    assert said in refused.value.message.splitlines() or refused.value.message.startswith(said)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("target: {}", "target"),
        ("target: {assignments: 3, widest_interval: 0.3}", "target"),
        ("target: {assignments: 0}", "target.assignments"),
        ("budget: {total: 10}", "budget.pay"),
        (
            "opening_hours: {time_zone: Mars/Base, hours: [{opens: 09:00, closes: 17:00}]}",
            "opening_hours.time_zone",
        ),
        (
            "opening_hours: {time_zone: UTC, hours: [{opens: 9, closes: 17:00}]}",
            "opening_hours.hours.0.opens",
        ),
        ("tarket: 3", "tarket"),
        ("- 3", "the whole"),
        ("a: [", "not valid YAML"),
        ("a: " + "[" * 29_000, "nested more than 50 levels deep"),
        ("".join(f"{' ' * n}a:\n" for n in range(600)), "nested more than 50 levels deep"),
        ('a: "\\U00110000"', "not valid YAML"),
        ("most_at_once: " + "9" * 5_000, "most_at_once"),
        ("".join(f"k{n}: 1\n" for n in range(3_000)), "more than 100 problems"),
    ],
)
def test_rules_with_mistakes(text: str, named: str) -> None:
    with pytest.raises(RulesInvalid, match=r"rules\.yaml") as refused:
        parse_rules(text, "rules.yaml")
    assert named in refused.value.message


COUNTS = st.integers(min_value=0, max_value=500)


def fewer_than(n: int, workers: int, p: float) -> float:
    """Return the probability that fewer than n of the workers complete, summed term by term."""
    return sum(math.comb(workers, k) * p**k * (1 - p) ** (workers - k) for k in range(min(n, workers + 1)))


@given(needed=st.integers(min_value=1, max_value=60), completed=COUNTS, dropped=COUNTS)
def test_the_last_who_is_let_in_is_as_likely_needed_as_not(needed: int, completed: int, dropped: int) -> None:
    """The theorem that the rule rests on, held against the sum."""
    under_way = most_under_way(needed, completed, dropped)
    p = completing(completed, dropped, under_way - 1)
    assert fewer_than(needed, under_way - 1, p) >= 0.5 - 1e-9


@given(needed=st.integers(min_value=0, max_value=10_000), completed=COUNTS, dropped=COUNTS)
def test_the_bounds(needed: int, completed: int, dropped: int) -> None:
    under_way = most_under_way(needed, completed, dropped)
    seen = completing(completed, dropped, 0)
    assert needed <= under_way <= math.ceil(needed / seen) <= 2 * needed
    # No more dropout is reckoned with than was seen.
    assert completed <= seen * (completed + dropped)
    assert seen <= completing(completed, dropped, under_way)
    assert most_under_way(needed, completed, 0) == needed


@pytest.mark.parametrize(
    ("needed", "completed", "dropped", "under_way"),
    [
        (0, 5, 5, 0),
        (10, 0, 0, 10),  # nobody has dropped out
        (10, 9, 1, 10),  # of 10, p = 20/21: 10 * 20/21 + 0.693 = 10.2 is no less than 10; of 9, 9.2 is
        (10, 7, 3, 11),  # of 11, p = 19/22: 9.5 + 0.693 = 10.2; of 10, p = 18/21: 9.3
        (10, 90, 30, 13),  # of 13, p = 104/134: 10.1 + 0.693 = 10.8; of 12, p = 103/133: 9.99
        (1, 7, 3, 1),  # of 1, p = 9/12: 0.75 + 0.693 = 1.4
        (20, 0, 5, 24),  # of 24, p = 25/30: 20 + 0.693; of 23, p = 24/29: 19.7
        (10, 0, 40, 19),  # p is no less than a half: 9.307 * 2 = 18.6
    ],
)
def test_by_hand(needed: int, completed: int, dropped: int, under_way: int) -> None:
    assert most_under_way(needed, completed, dropped) == under_way
