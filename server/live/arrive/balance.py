"""Draw the systems of an assignment, their order, and the QC bot's position. Pure.

The rules (METHOD sections 1 and 2): at most one system of each family; the QC bot is never first or last.
Balance: the family with the fewest conversations so far is drawn first, then its variant with the fewest,
ties by seed. Systems and the QC bot are also balanced over positions, because first conversations are rated
about 0.15 z lower (METHOD section 5). Positions are balanced in the long run only, by a biased draw: the next
one cannot be predicted from all former ones.
"""

import math
import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from server.session.plan import QC, Variant

# A choice is less likely by this share for each turn that it had more than others. A rule that always took
# the one with the fewest turns could be predicted from all former draws (B. Efron, *Forcing a sequential
# experiment to be balanced*, Biometrika 58, 1971). With 0.05 and four positions, the turns of each have a
# standard deviation of about 2.7 after 400 draws (8.7 for a fair die), and the best guess from all former
# draws is right in 29 % (chance: 25 %); of two sides, in 55 %.
_BIAS = 0.05
_STEPS = 2**52


def draw_cost(turns: int, rng: random.Random) -> float:
    """Return a random cost for a choice that had `turns` turns; the choice with the lowest cost is drawn.

    A choice is drawn with a probability proportional to exp(-_BIAS * turns), and the n lowest are a sample
    without replacement by those weights (P. Efraimidis and P. Spirakis, 2006). Costs may be added: the
    cheapest of several plans is drawn by the total of its turns, roughly.
    """
    between_0_and_1 = (rng.getrandbits(52) + 0.5) / _STEPS
    return _BIAS * turns + math.log(-math.log(between_0_and_1))


# SciPy has this too, but without SciPy the server starts a fifth faster.
_INFINITE = float("inf")


def cheapest_matching(cost: Sequence[Sequence[float]]) -> list[int]:
    """Return the column of each row, such that each column is used once and the sum of the costs is minimal.

    Rows are added one by one, each along the shortest augmenting path (H. W. Kuhn, The Hungarian Method for
    the Assignment Problem, 1955, with the potentials of J. Munkres, 1957). The time is of the order of n³.

    Args:
        cost: n rows of n numbers.
    """
    size = len(cost)
    of_row, of_column = [0.0] * size, [0.0] * size  # potentials: no reduced cost is ever negative
    holder: list[int | None] = [None] * size  # the row that has a column
    for row in range(size):
        _make_room(cost, of_row, of_column, holder, row)
    columns = [0] * size
    for column, row_of_it in enumerate(holder):
        if row_of_it is not None:
            columns[row_of_it] = column
    return columns


def _make_room(
    cost: Sequence[Sequence[float]],
    of_row: list[float],
    of_column: list[float],
    holder: list[int | None],
    row: int,
) -> None:
    """Assign a column to `row`, moving other rows along the path that adds the least cost."""
    distance = [_INFINITE] * len(cost)
    came_from: list[int | None] = [None] * len(cost)  # the previous column on the path
    reached: list[int] = []
    at: int | None = None  # the path's current column; None at its start
    here, walked = row, 0.0
    while True:
        for column, so_far in enumerate(distance):
            if column not in reached:
                through = walked + cost[here][column] - of_row[here] - of_column[column]
                if through < so_far:
                    distance[column], came_from[column] = through, at
        open_columns = (column for column in range(len(cost)) if column not in reached)
        at = min(open_columns, key=distance.__getitem__)
        walked = distance[at]
        if (next_row := holder[at]) is None:
            break
        reached.append(at)
        here = next_row
    of_row[row] += walked
    for column in reached:
        gained = walked - distance[column]
        of_row[_held(holder, column)] += gained
        of_column[column] -= gained
    while (before := came_from[at]) is not None:
        holder[at], at = holder[before], before
    holder[at] = row


def _held(holder: Sequence[int | None], column: int) -> int:
    row = holder[column]
    assert row is not None  # noqa: S101 - only assigned columns are on the path
    return row


@dataclass(frozen=True)
class DrawCounts:
    """Conversations of the held slots so far: per system, and per system and position (from 1)."""

    systems: Mapping[str, int] = field(default_factory=dict)
    positions: Mapping[tuple[str, int], int] = field(default_factory=dict)


def draw_plan(
    variants: Sequence[Variant],
    counts: DrawCounts,
    *,
    systems: int,
    qc: int,
    seed: int,
    down: Collection[str] = (),
) -> tuple[str, ...]:
    """Return the names of the systems of one assignment, in the order in which the worker meets them.

    `systems` of them are drawn from `variants`, at most one per family. `qc` positions between the first and
    the last are the QC bot's. Systems that are `down` are drawn only if there are too few others. They have
    the fewest conversations afterwards, so they are drawn first once they are back.

    Raises:
        ValueError: There are fewer families than systems to draw, or no position for the QC bot.
    """
    rng = random.Random(seed)
    drawn = _draw_systems(variants, counts, systems, rng, down)
    length = systems + qc
    qc_positions = _draw_qc_positions(counts, length, qc, rng)
    open_positions = [p for p in range(1, length + 1) if p not in qc_positions]
    placed = dict.fromkeys(qc_positions, QC) | _place(drawn, open_positions, counts, rng)
    return tuple(placed[position] for position in range(1, length + 1))


def _draw_systems(
    variants: Sequence[Variant], counts: DrawCounts, systems: int, rng: random.Random, down: Collection[str]
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


def _fewest(names: Sequence[str], counts: DrawCounts, rng: random.Random) -> str:
    shuffled = rng.sample(list(names), len(names))
    return min(shuffled, key=lambda name: counts.systems.get(name, 0))


def _draw_qc_positions(counts: DrawCounts, length: int, qc: int, rng: random.Random) -> set[int]:
    inner = list(range(2, length))
    if len(inner) < qc:
        raise ValueError(f"no place for {qc} qc conversations between the first and the last of {length}")
    cost = {position: draw_cost(counts.positions.get((QC, position), 0), rng) for position in inner}
    return set(sorted(inner, key=cost.__getitem__)[:qc])


def _place(
    drawn: Sequence[str], positions: Sequence[int], counts: DrawCounts, rng: random.Random
) -> dict[int, str]:
    """Match systems to positions; a position where a system stood less often is likelier."""
    cost = [
        [draw_cost(counts.positions.get((name, position), 0), rng) for position in positions]
        for name in drawn
    ]
    return {positions[column]: drawn[row] for row, column in enumerate(cheapest_matching(cost))}
