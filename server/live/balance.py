"""Draw the systems of an assignment, their order, and the QC bot's position. Pure.

The rules (METHOD sections 1 and 2): at most one system of each family, the qc bot never first or
last. Balance: the family with the fewest conversations so far is drawn first, then its variant with
the fewest, ties by seed; systems and the qc bot are also balanced over positions, because first
conversations are rated about 0.15 z lower (METHOD section 5). Positions are balanced in the long run only,
by a biased draw: whoever knows all former ones cannot tell the next.
"""

import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from server.live.biased_draw import draw_cost
from server.live.matching import cheapest_matching
from server.session.plan import QC, Variant


@dataclass(frozen=True)
class Counts:
    """Conversations of the places held so far: per system, and per system and position (from 1)."""

    systems: Mapping[str, int] = field(default_factory=dict)
    positions: Mapping[tuple[str, int], int] = field(default_factory=dict)


def draw_plan(
    variants: Sequence[Variant],
    counts: Counts,
    *,
    systems: int,
    qc: int,
    seed: int,
    down: Collection[str] = (),
) -> tuple[str, ...]:
    """Return the names of the systems of one assignment, in the order in which the worker meets them.

    `systems` of them are drawn from `variants`, at most one per family; `qc` places between the
    first and the last are the qc bot's. Those that are `down` are drawn only where there are too few
    others; they are the first to be drawn again, as they have the fewest conversations then.

    Raises:
        ValueError: there are fewer families than systems to draw, or no place for the qc bot.
    """
    rng = random.Random(seed)
    drawn = _draw_systems(variants, counts, systems, rng, down)
    length = systems + qc
    qc_positions = _draw_qc_positions(counts, length, qc, rng)
    open_positions = [p for p in range(1, length + 1) if p not in qc_positions]
    placed = dict.fromkeys(qc_positions, QC) | _place(drawn, open_positions, counts, rng)
    return tuple(placed[position] for position in range(1, length + 1))


def _draw_systems(
    variants: Sequence[Variant], counts: Counts, systems: int, rng: random.Random, down: Collection[str]
) -> list[str]:
    families: dict[str, list[str]] = {}
    for variant in sorted(variants, key=lambda v: (v.family, v.name)):
        families.setdefault(variant.family, []).append(variant.name)
    if len(families) < systems:
        raise ValueError(
            f"{systems} systems of different families were asked for, but there are {len(families)}"
        )
    names = list(families)
    rng.shuffle(names)
    able = {family: [name for name in its if name not in down] for family, its in families.items()}
    names.sort(key=lambda family: (not able[family], sum(counts.systems.get(v, 0) for v in families[family])))
    return [_fewest(able[family] or families[family], counts, rng) for family in names[:systems]]


def _fewest(names: Sequence[str], counts: Counts, rng: random.Random) -> str:
    shuffled = rng.sample(list(names), len(names))
    return min(shuffled, key=lambda name: counts.systems.get(name, 0))


def _draw_qc_positions(counts: Counts, length: int, qc: int, rng: random.Random) -> set[int]:
    inner = list(range(2, length))
    if len(inner) < qc:
        raise ValueError(f"no place for {qc} qc conversations between the first and the last of {length}")
    cost = {position: draw_cost(counts.positions.get((QC, position), 0), rng) for position in inner}
    return set(sorted(inner, key=cost.__getitem__)[:qc])


def _place(
    drawn: Sequence[str], positions: Sequence[int], counts: Counts, rng: random.Random
) -> dict[int, str]:
    """Match systems to positions; those where a system stood less often are likelier."""
    cost = [
        [draw_cost(counts.positions.get((name, position), 0), rng) for position in positions]
        for name in drawn
    ]
    return {positions[column]: drawn[row] for row, column in enumerate(cheapest_matching(cost))}
