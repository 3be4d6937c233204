"""The draw of items: the composition, no clashes, balance over items, systems and positions."""

from collections import Counter
from collections.abc import Sequence
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.db.runs.items import DrawnItem, PooledItem
from server.live.arrive.draws import draw_hit
from server.session.item import ItemKind
from server.session.plan import derive_seed
from server.study import COMPOSITIONS, Composition

POOL = {f"{system}{k}": PooledItem(system, group=None) for system in "abcd" for k in range(30)}
# Eleven systems, among them people, that have one question each about every of three passages.
PASSAGES = {
    f"{system} about {passage}": PooledItem(system, group=passage)
    for passage in ("otters", "tides", "violins")
    for system in ("human", *"abcdefghij")
}


KINDS = get_args(ItemKind)


def draw_many(
    hits: int, parts: Composition, pool: dict[str, PooledItem] = POOL, seed: int = 1
) -> list[tuple[DrawnItem, ...]]:
    drawn: list[tuple[DrawnItem, ...]] = []
    judgments: Counter[str] = Counter()
    positions: Counter[tuple[str, int]] = Counter()
    for place in range(hits):
        hit = draw_hit(pool, judgments, positions, parts, (), derive_seed(seed, place))
        judgments.update(item.item for item in hit if item.kind == "ordinary")
        positions.update((item.system, at) for at, item in enumerate(hit, start=1))
        drawn.append(hit)
    return drawn


def check(hit: Sequence[DrawnItem], parts: Composition) -> None:
    assert Counter(item.kind for item in hit) == Counter(
        {kind: n for kind in KINDS if (n := getattr(parts, kind))}
    )
    ordinary = {at: item for at, item in enumerate(hit, start=1) if item.kind == "ordinary"}
    assert len({item.item for item in ordinary.values()}) == parts.ordinary
    twinned = [item.twin_of for item in hit if item.kind != "ordinary"]
    # Disjoint sets of ordinary items; that of the human has both a bad twin and a repeat.
    assert len(set(twinned)) == len(twinned) - (parts.human is not None)
    for item in hit:
        if item.twin_of is None:
            assert item.kind == "ordinary"
        else:
            assert ordinary[item.twin_of].item == item.item


def test_a_list_is_about_one_passage_and_people_have_a_bad_twin_and_a_repeat_in_it() -> None:
    parts = Composition(ordinary=11, bad=6, repeat=3, one_group=True, human="human")
    hits = draw_many(9, parts, PASSAGES)
    groups = [{PASSAGES[item.item].group for item in hit} for hit in hits]
    for hit, group in zip(hits, groups, strict=True):
        check(hit, parts)
        assert len(hit) == 20
        assert len(group) == 1
        assert {item.system for item in hit if item.kind == "ordinary"} == {"human", *"abcdefghij"}
        assert sorted(item.kind for item in hit if item.system == "human") == ["bad", "ordinary", "repeat"]
    for three in (groups[:3], groups[3:6], groups[6:]):
        assert set().union(*three) == {"otters", "tides", "violins"}  # none again before all were
    elsewhere = [name for name in PASSAGES if "tides" not in name]
    assert draw_hit(PASSAGES, {}, {}, parts, elsewhere, 1)[0].item.endswith("tides")
    with pytest.raises(ValueError, match="11 items were asked for"):
        draw_hit(PASSAGES, {}, {}, parts, [*elsewhere, "a about tides"], 1)


def test_of_several_human_questions_about_a_passage_one_is_checked() -> None:
    """Nine systems and three people, whose questions an assignment needs but for one."""
    pool = {
        f"{system}{k}": PooledItem(system, group="otters")
        for system, number in (("human", 3), *((letter, 1) for letter in "abcdefghi"))
        for k in range(number)
    }
    parts = Composition(ordinary=11, bad=6, repeat=3, one_group=True, human="human")
    for hit in draw_many(6, parts, pool):
        check(hit, parts)
        twice = Counter(item.item for item in hit if item.system == "human" and item.kind != "ordinary")
        assert max(twice.values()) == 2


def test_a_passage_whose_human_question_a_worker_must_not_rate_is_not_drawn() -> None:
    parts = Composition(ordinary=3, bad=1, repeat=1, one_group=True, human="human")
    unfit = ["human about otters", "human about tides"]
    for seed in range(5):
        assert all("violins" in item.item for item in draw_hit(PASSAGES, {}, {}, parts, unfit, seed))
    with pytest.raises(ValueError, match="an item of 'human' left"):
        draw_hit(PASSAGES, {}, {}, parts, [*unfit, "human about violins"], 1)


def test_people_are_in_a_list_that_takes_few_of_a_passage() -> None:
    parts = Composition(ordinary=3, bad=1, repeat=1, one_group=True, human="human")
    met: Counter[str] = Counter()
    for hit in draw_many(30, parts, PASSAGES):
        check(hit, parts)
        assert sorted(item.kind for item in hit if item.system == "human") == ["bad", "ordinary", "repeat"]
        met.update(item.item for item in hit if item.kind == "ordinary" and item.system != "human")
    assert set(met.values()) == {2}  # 30 lists with two questions of ten systems about three passages


@pytest.mark.parametrize("parts", COMPOSITIONS.values(), ids=COMPOSITIONS)
def test_the_compositions_of_the_thesis(parts: Composition) -> None:
    for hit in draw_many(5, parts):
        check(hit, parts)
        assert len(hit) == {70: 100, 11: 20}[parts.ordinary]


@given(st.integers(0, 10_000), st.integers(1, 12), st.data())
def test_what_a_worker_must_not_rate_is_never_drawn(seed: int, number: int, data: st.DataObject) -> None:
    unfit = data.draw(st.sets(st.sampled_from(sorted(POOL)), max_size=100))
    parts = Composition(ordinary=number, bad=number // 3, repeat=number // 3)
    hit = draw_hit(POOL, {}, {}, parts, unfit, seed)
    check(hit, parts)
    assert not unfit & {item.item for item in hit}


def test_every_item_is_judged_k_times_before_any_is_judged_more_often() -> None:
    parts = COMPOSITIONS["questions"]
    judged: Counter[str] = Counter(dict.fromkeys(POOL, 0))
    for hit in draw_many(40, parts):
        judged.update(item.item for item in hit if item.kind == "ordinary")
        assert max(judged.values()) - min(judged.values()) <= 1


def test_systems_take_turns_within_an_assignment_and_over_a_run() -> None:
    hits = draw_many(40, COMPOSITIONS["questions"])
    total: Counter[str] = Counter()
    for hit in hits:
        here = Counter(item.system for item in hit if item.kind == "ordinary")
        total.update(here)
    # 440 draws of items of four systems that have 30 each: 110 are an equal share.
    assert max(total.values()) - min(total.values()) <= 4
    first = Counter(item.system for item in hits[0] if item.kind == "ordinary")
    assert sorted(first.values()) == [2, 3, 3, 3]


def test_systems_stand_about_equally_often_at_each_position() -> None:
    off = 0
    for seed in range(5):
        hits = draw_many(160, Composition(ordinary=12), seed=seed)
        cells = Counter((item.system, at) for hit in hits for at, item in enumerate(hit, start=1))
        off += sum((cells[system, at] - 40) ** 2 for system in "abcd" for at in range(1, 13))
    # 1,920 draws over 4 × 12 cells: 40 each, by chance alone with a standard deviation of √(160·¼·¾) = 5.5.
    assert off / (5 * 48) < 3.5**2


def test_nobody_can_tell_the_system_at_a_position_from_all_former_ones() -> None:
    # Four systems with three items each: chance is 1/4. Whoever knows the rule guesses the one that stood
    # there least often: of 160 × 12 positions in 3 runs that share has a standard error of 0.6 %.
    right = 0.0
    for seed in range(3):
        cells: Counter[tuple[str, int]] = Counter()
        for hit in draw_many(160, Composition(ordinary=12), seed=seed):
            for at, item in enumerate(hit, start=1):
                fewest = min(cells[system, at] for system in "abcd")
                guesses = [system for system in "abcd" if cells[system, at] == fewest]
                right += (item.system in guesses) / len(guesses)
            cells.update((item.system, at) for at, item in enumerate(hit, start=1))
    print(f"the system at a position: {right / (3 * 160 * 12):.1%}")  # noqa: T201
    assert right / (3 * 160 * 12) < 0.32


def test_a_draw_is_fixed_by_its_seed() -> None:
    assert draw_many(3, COMPOSITIONS["questions"]) == draw_many(3, COMPOSITIONS["questions"])
    assert draw_many(3, COMPOSITIONS["questions"]) != draw_many(3, COMPOSITIONS["questions"], seed=2)


def test_too_few_items_are_left() -> None:
    with pytest.raises(ValueError, match="11 items were asked for, and there are 10"):
        draw_hit(POOL, {}, {}, COMPOSITIONS["questions"], sorted(POOL)[10:], 1)
