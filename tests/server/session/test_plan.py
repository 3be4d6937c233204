"""Plans of conversations: seeds, replacements, personas, ice-breakers."""

from collections.abc import Mapping

import pytest

from server.session.plan import QC, LineupSpec, Variant, derive_seed, plan_conversation, replacement


def test_seeds_depend_on_every_part_and_on_where_parts_end() -> None:
    seeds = [derive_seed(*parts) for parts in [(1, 2), (2, 1), (12,), ("1", "2", ""), (1, 2, 3)]]
    assert len(set(seeds)) == 5
    assert all(0 <= seed < 2**63 for seed in seeds)  # fits a signed 64-bit column
    # SHA-256 of "1", first eight bytes, shifted by one: the same on every machine, for ever.
    assert derive_seed(1) == 0x6B86B273FF34FCE1 >> 1


# ---- replacement -----------------------------------------------------------------------------

LINEUP = [Variant("a1", "a"), Variant("a2", "a"), Variant("b1", "b"), Variant("c1", "c"), Variant("c2", "c")]


@pytest.mark.parametrize(
    ("failed", "met", "candidates"),
    [
        ("a1", ["a1", QC, "b1"], {"a2"}),  # its sibling, though c is unmet
        ("b1", ["a1", QC, "b1"], {"c1", "c2"}),  # it has none: a family not yet met
        ("a2", ["a1", "a2", QC, "b1"], {"c1", "c2"}),  # its sibling is met already
        ("b1", ["a1", "b1", QC, "c1"], {"a2", "c2"}),  # every family is met: any system that is not
        (QC, ["a1", QC, "b1"], {"c1", "c2"}),
        ("a1", ["a1"], {"a2"}),
        ("b1", ["a1", "a2", "b1", "c1", "c2"], {None}),
    ],
)
def test_a_failed_system_is_replaced_by_a_sibling_else_a_stranger_else_anything_new(
    failed: str, met: list[str], candidates: set[str | None]
) -> None:
    assert {replacement(failed, LINEUP, met, seed) for seed in range(30)} == candidates


# ---- personas and ice-breakers ---------------------------------------------------------------

POOL = (("I am one.", "I have one."), ("I am two.", "I have two."))
FIXED = ("I am fixed.", "I stay fixed.")
POLICIES: Mapping[str, str | tuple[str, ...]] = {"bare": "none", "drawn": "random", "fixed": FIXED}


def lineup(*, icebreakers: bool) -> LineupSpec:
    return LineupSpec((), POLICIES, POOL, icebreakers)  # type: ignore[arg-type]


def planned(system: str, seed: int, *, icebreakers: bool) -> tuple[tuple[str, ...], str | None]:
    plan = plan_conversation(lineup(icebreakers=icebreakers), "a1", seed, 3, 2, system)
    return plan.persona, plan.icebreaker


@pytest.mark.parametrize("icebreakers", [False, True])
@pytest.mark.parametrize(
    ("system", "personas"),
    [("bare", {()}), (QC, {()}), ("drawn", set(POOL)), ("fixed", {FIXED})],
)
def test_a_persona_follows_the_policy(system: str, personas: set[tuple[str, ...]], icebreakers: bool) -> None:
    assert {planned(system, seed, icebreakers=icebreakers)[0] for seed in range(40)} == personas


def test_there_is_no_icebreaker_where_topics_are_free() -> None:
    assert planned("drawn", 1, icebreakers=False)[1] is None


@pytest.mark.parametrize("system", ["drawn", "fixed"])
def test_an_icebreaker_is_a_sentence_of_the_systems_own_persona(system: str) -> None:
    drawn = [planned(system, seed, icebreakers=True) for seed in range(40)]
    assert all(icebreaker in persona for persona, icebreaker in drawn)
    assert {icebreaker for _, icebreaker in drawn} == {s for persona, _ in drawn for s in persona}


@pytest.mark.parametrize("system", ["bare", QC])
def test_without_a_persona_the_icebreaker_is_of_a_random_one(system: str) -> None:
    # So an ice-breaker does not tell whether the system has a persona.
    drawn = {planned(system, seed, icebreakers=True)[1] for seed in range(60)}
    assert drawn == {sentence for persona in POOL for sentence in persona}


def test_a_conversation_is_drawn_from_its_place_alone() -> None:
    def plan(assignment: str, seed: int, position: int, attempt: int) -> tuple[object, ...]:
        made = plan_conversation(lineup(icebreakers=True), assignment, seed, position, attempt, "drawn")
        return made.seed, made.persona, made.icebreaker, made.conversation

    assert plan("a1", 5, 1, 1) == plan("a1", 5, 1, 1)
    others = [plan("a1", 5, 1, 1), plan("a1", 5, 2, 1), plan("a1", 5, 1, 2), plan("a1", 6, 1, 1)]
    assert len({seed for seed, *_ in others}) == 4
    assert [conversation for *_, conversation in others[:3]] == ["a1-1.1", "a1-2.1", "a1-1.2"]
