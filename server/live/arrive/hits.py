"""Draw the items of an assignment and their order. Pure: depends on counts and a seed.

The study sets the composition (Ji, PhD thesis, chapters 3 and 4). Balance: an item is drawn again only if no
other item that its worker may rate was drawn less often. Within an assignment, systems take turns. Over
positions, systems are balanced in the long run, by a biased draw. This is the idea of the repeated Latin
square (Belz and Reiter 2006) for assignments that come one by one, and for workers who must not know the next
system.
"""

import random
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from server.db.runs.items import DrawnItem
from server.live.arrive.balance import draw_cost
from server.session.item import ItemKind
from server.study import Composition

Positions = Mapping[tuple[str, int], int]


def draw_hit(
    systems: Mapping[str, str],
    judgments: Mapping[str, int],
    positions: Positions,
    parts: Composition,
    unfit: Collection[str],
    seed: int,
) -> tuple[DrawnItem, ...]:
    """Return the items of one assignment, in the order in which the worker meets them.

    Args:
        systems: The system of every item of the run, by the item's name.
        judgments: How often each item was drawn as an ordinary one; missing means never.
        positions: How often each system stands at each position, from 1.
        parts: The number of items of each kind.
        unfit: The items that this worker must not rate.
        seed: The seed of the random choices.

    Raises:
        ValueError: Too few items are left that the worker may rate.
    """
    rng = random.Random(seed)
    fit = [name for name in systems if name not in unfit]
    if len(fit) < parts.ordinary:
        raise ValueError(f"{parts.ordinary} items were asked for, and there are {len(fit)}")
    ordinary = _draw_ordinary(systems, judgments, fit, parts.ordinary, rng)
    drawn: list[tuple[str, ItemKind]] = [(name, "ordinary") for name in ordinary]
    twinned = iter(rng.sample(ordinary, parts.twins))
    kinds: tuple[tuple[ItemKind, int], ...] = (
        ("bad", parts.bad),
        ("repeat", parts.repeat),
        ("reference", parts.reference),
    )
    drawn += [(next(twinned), kind) for kind, number in kinds for _ in range(number)]
    placed = _place(drawn, systems, positions, rng)
    position_of = {name: at for at, (name, kind) in enumerate(placed, start=1) if kind == "ordinary"}
    return tuple(
        DrawnItem(name, kind, None if kind == "ordinary" else position_of[name], systems[name])
        for name, kind in placed
    )


def _draw_ordinary(
    systems: Mapping[str, str],
    judgments: Mapping[str, int],
    fit: Sequence[str],
    number: int,
    rng: random.Random,
) -> list[str]:
    """Draw the items judged least often; among equals systems take turns, the least judged system first."""
    shuffled = rng.sample(fit, len(fit))
    most = sorted(judgments.get(name, 0) for name in fit)[number - 1]
    drawn = [name for name in shuffled if judgments.get(name, 0) < most]
    here = Counter(systems[name] for name in drawn)
    totals: Counter[str] = Counter()
    for name, times in judgments.items():
        totals[systems[name]] += times
    left: dict[str, list[str]] = {}
    for name in shuffled:
        if judgments.get(name, 0) == most:
            left.setdefault(systems[name], []).append(name)
    while len(drawn) < number:
        system = min(left, key=lambda system: (here[system], totals[system]))
        drawn.append(left[system].pop())
        here[system] += 1
        if not left[system]:
            del left[system]
    return drawn


def _place(
    drawn: Sequence[tuple[str, ItemKind]],
    systems: Mapping[str, str],
    positions: Positions,
    rng: random.Random,
) -> list[tuple[str, ItemKind]]:
    """Give each position an item; items of a system that stood there less often are likelier."""
    left = rng.sample(drawn, len(drawn))
    placed: dict[int, tuple[str, ItemKind]] = {}
    for position in rng.sample(range(1, len(drawn) + 1), len(drawn)):
        item = min(left, key=lambda item: draw_cost(positions.get((systems[item[0]], position), 0), rng))
        left.remove(item)
        placed[position] = item
    return [placed[position] for position in range(1, len(drawn) + 1)]
