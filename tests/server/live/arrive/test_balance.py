"""The draw: balance, families, the qc bot's places."""

from collections import Counter
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from server.live.arrive.balance import DrawCounts, draw_plan
from server.session.plan import QC, Variant, derive_seed
from tests.support.draws import away_at, unfair_draws

METHOD = [Variant(f"{family}{variant}", family) for family in "abcde" for variant in ("", "_p")]


def count(plans: Sequence[Sequence[str]]) -> DrawCounts:
    systems: Counter[str] = Counter()
    positions: Counter[tuple[str, int]] = Counter()
    for plan in plans:
        systems.update(plan)
        positions.update((name, position) for position, name in enumerate(plan, start=1))
    return DrawCounts(systems, positions)


def draw_many(
    variants: Sequence[Variant], workers: int, systems: int, qc: int, seed: int
) -> list[Sequence[str]]:
    plans: list[Sequence[str]] = []
    for place in range(workers):
        plans.append(draw_plan(variants, count(plans), systems=systems, qc=qc, seed=derive_seed(seed, place)))
    return plans


def spread(counts: Mapping[str, int], names: Sequence[str]) -> int:
    held = [counts.get(name, 0) for name in names]
    return max(held) - min(held)


@st.composite
def designs(draw: st.DrawFn) -> tuple[list[Variant], int, int]:
    """Variants (one to four of each of two to seven families), systems per assignment, qc conversations."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=2, max_size=7))
    variants = [Variant(f"f{f}v{v}", f"f{f}") for f, size in enumerate(sizes) for v in range(size)]
    systems = draw(st.integers(2, len(sizes)))
    # Between the first and the last there are systems + qc - 2 places, so any qc fits from two systems on.
    return variants, systems, draw(st.integers(0, 2))


@settings(max_examples=40)
@given(designs(), st.integers(0, 2**32), st.integers(1, 60))
def test_any_design_is_balanced_after_any_number_of_workers(
    design: tuple[list[Variant], int, int], seed: int, workers: int
) -> None:
    variants, systems, qc = design
    plans = draw_many(variants, workers, systems, qc, seed)
    family = {v.name: v.family for v in variants}
    families: Counter[str] = Counter()
    names: Counter[str] = Counter()
    for plan in plans:
        assert len(plan) == systems + qc
        drawn = [family[name] for name in plan if name != QC]
        assert len(set(drawn)) == len(drawn) == systems  # at most one of each family
        assert plan[0] != QC != plan[-1]
        families.update(drawn)
        names.update(plan)
    assert spread(families, sorted(set(family.values()))) <= 1
    for each in set(family.values()):
        assert spread(names, [v.name for v in variants if v.family == each]) <= 1


@pytest.mark.parametrize("seed", range(5))
def test_systems_are_balanced_over_positions(seed: int) -> None:
    # METHOD: ten systems, five of them and one qc bot in six places. 240 workers make 120 conversations
    # of each system. Positions 1 and 6 never have the qc bot, so they get 240 / 10 = 24 of each system; the
    # inner four are the qc bot's in 60 of 240, so they get 180 / 10 = 18. Drawn at random, the
    # standard deviation of such a count would be sqrt(240 x 0.1 x 0.9) = 4.6, or sqrt(240 x 0.075 x 0.925)
    # = 4.1 for the inner ones; the biased draw takes that to between 2.2 and 3.1.
    plans = draw_many(METHOD, 240, 5, 1, seed)
    held = count(plans)
    expected = {1: 24, 2: 18, 3: 18, 4: 18, 5: 18, 6: 24}
    off = [
        held.positions.get((variant.name, position), 0) - number
        for position, number in expected.items()
        for variant in METHOD
    ]
    assert sum(deviation**2 for deviation in off) / 60 < 3.5**2
    for position in expected:
        assert abs(held.positions.get((QC, position), 0) - (60 if 1 < position < 6 else 0)) <= 10


@pytest.mark.parametrize(
    ("variants", "systems", "qc", "most"),
    [(METHOD, 5, 1, 0.28), ([Variant("a", "a"), Variant("b", "b")], 2, 0, 0.59)],
    ids=["five of ten", "two"],
)
def test_nobody_can_tell_the_first_system_from_all_former_orders(
    variants: Sequence[Variant], systems: int, qc: int, most: float
) -> None:
    # Chance is 1/5 of those drawn, and 1/2. Whoever knows the rule, and even which ones are drawn, guesses
    # the system that came first least often, and is right in some 24 % and 55 %: of 8 x 200 those shares have
    # a standard error of 1.1 and 1.2 %. With the least total of counts they were right in 46 % and 75 %.
    right = 0.0
    for seed in range(8):
        for place, plan in enumerate(plans := draw_many(variants, 200, systems, qc, seed)):
            first = Counter(former[0] for former in plans[:place])
            fewest = min(first[name] for name in plan if name != QC)
            guesses = [name for name in plan if name != QC and first[name] == fewest]
            right += (plan[0] in guesses) / len(guesses)
    print(f"the first of {systems} systems, {len(variants)} variants: {right / 1_600:.1%}")  # noqa: T201
    assert right / 1_600 < most


def test_nobody_can_tell_the_qc_bots_next_position_from_all_former_ones() -> None:
    # Five systems and one qc bot: positions 2 to 5, so chance is 1/4. Whoever knows the rule guesses the
    # position that had it least often, and is right in 29 % of draws: of 6 x 400 that share has a standard
    # error of 0.9 %. In blocks of four they would be right in (1/4 + 1/3 + 1/2 + 1) / 4 = 52 %.
    right, spreads = 0, []
    for seed in range(6):
        held: Counter[tuple[str, int]] = Counter()
        for place in range(400):
            fewest = min(range(2, 6), key=lambda position: held[QC, position])
            counts = DrawCounts({}, held)
            plan = draw_plan(METHOD, counts, systems=5, qc=1, seed=derive_seed(seed, place))
            held[QC, plan.index(QC) + 1] += 1
            right += plan[fewest - 1] == QC
        spreads.append(max(held.values()) - min(held.values()))
        assert set(held) == {(QC, position) for position in range(2, 6)}
    print(f"the qc bot's position: {right / 2_400:.1%}")  # noqa: T201
    assert right / 2_400 < 0.32
    # A fair die's counts would have a standard deviation of sqrt(400 x 1/4 x 3/4) = 8.7, and a range of 18.
    assert sum(spreads) / 6 < 8


def test_the_same_counts_and_seed_give_the_same_plan() -> None:
    counts = count(draw_many(METHOD, 3, 5, 1, seed=1))
    assert draw_plan(METHOD, counts, systems=5, qc=1, seed=9) == draw_plan(
        list(reversed(METHOD)), counts, systems=5, qc=1, seed=9
    )


def test_another_seed_gives_another_plan() -> None:
    plans = {draw_plan(METHOD, DrawCounts(), systems=5, qc=1, seed=seed) for seed in range(20)}
    assert len(plans) > 15  # of 10 * 8 * 6 * 4 * 2 orders of systems, times 4 places of the qc bot


def test_every_system_comes_first_for_somebody() -> None:
    # Nothing but the seed decides about the first worker: each of the ten is possible.
    firsts = {draw_plan(METHOD, DrawCounts(), systems=5, qc=1, seed=seed)[0] for seed in range(200)}
    assert firsts == {variant.name for variant in METHOD}


def test_the_family_with_the_fewest_conversations_comes_first_then_its_fewest_variant() -> None:
    # Family a has 3 conversations, b 2, c 9: two systems are to be drawn, so a and b. In a the variant
    # `a_p` has fewer (1 against 2), in b it is `b` (0 against 2).
    variants = [Variant(n, n[0]) for n in ("a", "a_p", "b", "b_p", "c", "c_p")]
    counts = DrawCounts({"a": 2, "a_p": 1, "b": 0, "b_p": 2, "c": 4, "c_p": 5})
    for seed in range(20):
        assert set(draw_plan(variants, counts, systems=2, qc=0, seed=seed)) == {"a_p", "b"}


@pytest.mark.parametrize(
    ("systems", "qc", "reason"),
    [(6, 1, "6 systems of different families were asked for, but there are 5"), (1, 1, "no place for 1 qc")],
)
def test_an_impossible_draw_says_why(systems: int, qc: int, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        draw_plan(METHOD, DrawCounts(), systems=systems, qc=qc, seed=0)


def test_who_is_down_is_not_drawn_while_others_can_be_and_catches_up() -> None:
    six = [*METHOD, Variant("f", "f")]
    plans = draw_many(six, 6, 5, 1, seed=1)
    for place in range(6, 60):
        down = {"a", "a_p", "b"} if place < 12 else set()
        plan = draw_plan(six, count(plans), systems=5, qc=1, seed=place, down=down)
        assert not down.intersection(plan)
        plans.append(plan)
    counts = count(plans).systems
    families = Counter({family: counts.get(family, 0) + counts.get(f"{family}_p", 0) for family in "abcdef"})
    assert max(families.values()) - min(families.values()) <= 1
    assert abs(counts["b"] - counts["b_p"]) <= 1


def test_who_is_down_is_drawn_where_there_are_too_few_others() -> None:
    down = {"a", "a_p"}
    plan = draw_plan(METHOD, DrawCounts(), systems=5, qc=1, seed=3, down=down)
    assert len(down.intersection(plan)) == 1


@settings(max_examples=40)
@given(designs(), st.data())
def test_every_draw_is_fair_whatever_is_down(
    design: tuple[list[Variant], int, int], data: st.DataObject
) -> None:
    """By the check of whole installations under trouble, which finds what else would be drawn."""
    variants, systems, qc = design
    names = [variant.name for variant in variants]
    families = {variant.name: variant.family for variant in variants}
    plans: list[tuple[str, ...]] = []
    down: list[set[str]] = []
    for place in range(data.draw(st.integers(1, 30))):
        down.append(data.draw(st.sets(st.sampled_from(names))))
        seed = derive_seed(1, place)
        plans.append(draw_plan(variants, count(plans), systems=systems, qc=qc, seed=seed, down=down[place]))
    away = {(place, plan): [down[place]] for place, plan in enumerate(plans)}
    assert unfair_draws(dict(enumerate(plans)), families, away) == []


def test_an_unfair_draw_is_found() -> None:
    families = {"a": "a", "a_p": "a", "b": "b", "c": "c"}
    fair = {0: ("a", "b"), 1: ("c", "a_p"), 2: ("b", "c")}
    assert unfair_draws(fair, families, {}) == []
    assert unfair_draws(fair | {1: ("a", "a_p")}, families, {}) == [1]  # c had none
    assert unfair_draws(fair | {1: ("c", "a")}, families, {}) == [1]  # of its family a_p had fewer
    without_c = fair | {1: ("a_p", "b")}
    assert unfair_draws(without_c, families, {}) == [1]
    assert unfair_draws(without_c, families, {(1, ("a_p", "b")): [{"c"}]}) == []
    assert unfair_draws(without_c, families, {(1, ("b", "a_p")): [{"c"}]}) == [1]  # of a draw not kept
    assert unfair_draws(fair, families, {(1, ("c", "a_p")): [{"c"}]}) == [1]  # given although away
    assert unfair_draws(fair, families, {(1, ("c", "a_p")): [{"c"}, {"a"}]}) == []  # made twice
    assert unfair_draws(fair, families, {(1, ("c", "a_p")): [{"a_p"}]}) == [1]  # a was not away


def test_a_servers_log_says_what_was_away_at_which_draw() -> None:
    line = '{"place": 3, "plan": ["b", "c"], "away": ["a"], "event": "drawn while bots are away"}'
    again = line.replace('["a"]', '["d"]')  # by another process, whose transaction came first
    torn = line[:-5]
    assert away_at(["Candor is ready", line, again, torn]) == {(3, ("b", "c")): [{"a"}, {"d"}]}
