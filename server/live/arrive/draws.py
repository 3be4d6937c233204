"""Draw the pairs of systems, the items and the scenarios of an assignment. Pure.

The rule:

1. *Every pair.* Pairs that were placed less than half as often as the average pair go first. So every pair is
   placed once before any is placed twice, and none falls behind.
2. *Most informative.* Otherwise, the pair whose next comparison is expected to tell most about the difference
   between its two systems: the gain of a D-optimal design, log(1 + I · v). I is the information of one
   comparison about the difference, under the Bradley-Terry-Davidson model as fitted so far. v approximates
   the variance of the difference by the sum of 1/N over the two systems. N is the information of all
   comparisons in which the system was placed (the diagonal of the information matrix, which costs no
   inversion). Comparisons that are placed and not yet made count too, so that workers who arrive together get
   different pairs.
3. *Sides.* In a pair, the system that stood on the left less often is likelier to be on the left, by a biased
   draw: a worker who compares the same two again cannot tell which is where.
4. *Quality control.* The QC bot is paired with the system that met it least often, and is never in the first
   or the last pair of an assignment.

The study sets the composition (Ji, PhD thesis, chapters 3 and 4), and whether all items of an assignment are
of one group, such as the questions about one passage. Then the group that was judged least often is drawn
first. Balance: an item is drawn again only if no other item that its worker may rate was drawn less often.
Within an assignment, systems take turns. Over positions, systems are balanced in the long run, by a biased
draw. This is the idea of the repeated Latin square (Belz and Reiter 2006) for assignments that come one by
one, and for workers who must not know the next system.
"""

import math
import random
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import combinations

from sqlalchemy import Connection, bindparam, func, literal_column, select

from server.bots.lineup import OpenRun
from server.db.counts import PairTally
from server.db.runs.items import DrawnItem, PooledItem
from server.db.tables import AssignmentTable, ConversationTable, SystemTable
from server.live.arrive.admission import IN_RUN
from server.live.arrive.balance import draw_cost
from server.session.item import ItemKind
from server.session.plan import QC, derive_seed
from server.study import Composition

Pair = tuple[str, str]
Counts = Mapping[Pair, PairTally]
_NONE = PairTally()
_ROUNDS = 12
_PRIOR = 0.5  # wins and losses against a system of strength 1, so that an unbeaten system is finite


def draw_pairs(systems: Sequence[str], counts: Counts, *, pairs: int, qc: int, seed: int) -> tuple[str, ...]:
    """Return the systems of one assignment: the first pair's left and right system, the second pair's, …

    Args:
        systems: The names of all systems, at least two, without the QC bot.
        counts: The run's counts so far, by the names on the left and on the right.
        pairs: The number of pairs of systems.
        qc: The number of further pairs with the QC bot.
        seed: The seed of all draws.

    Raises:
        ValueError: There are fewer than two systems, or no position for the QC bot.
    """
    if len(systems) < 2:
        raise ValueError("at least two systems are needed to compare them")
    rng = random.Random(seed)
    drawn = _draw_compared(sorted(systems), counts, pairs, rng)
    with_qc = _draw_with_qc(sorted(systems), counts, qc, rng)
    rng.shuffle(drawn)
    inner = list(range(1, pairs + qc - 1))
    if len(inner) < qc:
        raise ValueError(f"no place for {qc} pairs with the qc bot between the first and the last")
    order = list(drawn)
    for place, pair in zip(sorted(rng.sample(inner, qc)), with_qc, strict=True):
        order.insert(place, pair)
    return tuple(name for pair in _sided(order, counts, rng) for name in pair)


def strengths(systems: Sequence[str], counts: Counts) -> tuple[dict[str, float], float]:
    """Return the strength of each system and the tie parameter nu of Davidson (1970), roughly.

    A few rounds of minorisation and maximisation, as D. R. Hunter has them for models of this family (*MM
    algorithms for generalized Bradley-Terry models*, Annals of Statistics 32, 2004). The root of Davidson's
    ties is bounded by the arithmetic mean of its two factors, each over its present value. A small prior
    pulls every strength towards 1. The report fits the model properly; the draw needs no more than this.
    """
    strength, nu = dict.fromkeys(systems, 1.0), 0.5
    compared = [
        (left, right, count)
        for (left, right), count in counts.items()
        if left in strength and right in strength and count.left + count.ties + count.right
    ]
    for _ in range(_ROUNDS):
        won = dict.fromkeys(systems, _PRIOR)
        weight = {name: 2 * _PRIOR / (value + 1.0) for name, value in strength.items()}
        ties, root_sum = 0.5, 0.5
        for left, right, count in compared:
            a, b = strength[left], strength[right]
            root = math.sqrt(a * b)
            n = count.left + count.ties + count.right
            share = n / (a + b + nu * root)
            won[left] += count.left + count.ties / 2
            won[right] += count.right + count.ties / 2
            weight[left] += share * (1 + nu * root / (2 * a))
            weight[right] += share * (1 + nu * root / (2 * b))
            ties += count.ties
            root_sum += share * root
        strength = {name: won[name] / weight[name] for name in systems}
        nu = ties / root_sum
    return strength, nu


def information(a: float, b: float, nu: float) -> float:
    """Return the information of one comparison of two strengths about the difference of their logarithms."""
    root = nu * math.sqrt(a * b)
    total = a + b + root
    win, loss = a / total, b / total
    return (win + loss - (win - loss) ** 2) / 4


def _draw_compared(systems: Sequence[str], counts: Counts, pairs: int, rng: random.Random) -> list[Pair]:
    strength, nu = strengths(systems, counts)
    every = [(a, b) for a, b in combinations(systems, 2)]
    rng.shuffle(every)
    tells = {pair: information(strength[pair[0]], strength[pair[1]], nu) for pair in every}
    placed = {pair: _both_ways(counts, pair) for pair in every}
    known = dict.fromkeys(systems, 0.0)
    for (a, b), number in placed.items():
        known[a] += number * tells[a, b]
        known[b] += number * tells[a, b]
    drawn: list[Pair] = []
    for _ in range(pairs):
        fresh = [pair for pair in every if pair not in drawn] or every
        pair = _next_pair(fresh, placed, known, tells)
        drawn.append(pair)
        placed[pair] += 1
        for name in pair:
            known[name] += tells[pair]
    return drawn


def _next_pair(
    fresh: Sequence[Pair],
    placed: Mapping[Pair, int],
    known: Mapping[str, float],
    tells: Mapping[Pair, float],
) -> Pair:
    behind = [pair for pair in fresh if 2 * placed[pair] * len(placed) < sum(placed.values())]
    if behind:
        return min(behind, key=lambda pair: placed[pair])

    def gain(pair: Pair) -> float:
        variance = sum(1 / (known[name] + 0.25) for name in pair)
        return math.log1p(tells[pair] * variance)

    return max(fresh, key=gain)


def _draw_with_qc(systems: Sequence[str], counts: Counts, qc: int, rng: random.Random) -> list[Pair]:
    names = list(systems)
    rng.shuffle(names)
    names.sort(key=lambda name: _both_ways(counts, (QC, name)))
    return [(QC, names[index % len(names)]) for index in range(qc)]


def _sided(order: Sequence[Pair], counts: Counts, rng: random.Random) -> list[Pair]:
    """Return the pairs with sides; the system that stood on the left less often is likelier to be there."""
    sided: list[Pair] = []
    for a, b in order:
        both = (a, b), (b, a)  # a pair may be drawn twice if there are few
        cost = {pair: draw_cost(counts.get(pair, _NONE).placed + sided.count(pair), rng) for pair in both}
        sided.append(min(both, key=cost.__getitem__))
    return sided


def _both_ways(counts: Counts, pair: Pair) -> int:
    a, b = pair
    return counts.get((a, b), _NONE).placed + counts.get((b, a), _NONE).placed


Positions = Mapping[tuple[str, int], int]


def draw_hit(
    pool: Mapping[str, PooledItem],
    judgments: Mapping[str, int],
    positions: Positions,
    parts: Composition,
    unfit: Collection[str],
    seed: int,
) -> tuple[DrawnItem, ...]:
    """Return the items of one assignment, in the order in which the worker meets them.

    Args:
        pool: Every item of the run, by its name.
        judgments: How often each item was drawn as an ordinary one; missing means never.
        positions: How often each system stands at each position, from 1.
        parts: The number of items of each kind.
        unfit: The items that this worker must not rate.
        seed: The seed of the random choices.

    Raises:
        ValueError: Too few items are left that the worker may rate.
    """
    rng = random.Random(seed)
    systems = {name: item.system for name, item in pool.items()}
    fit = [name for name in pool if name not in unfit]
    if parts.one_group:
        fit = _draw_group(pool, judgments, fit, parts, rng)
    if len(fit) < parts.ordinary:
        raise ValueError(f"{parts.ordinary} items were asked for, and there are {len(fit)}")
    human = [name for name in fit if systems[name] == parts.human]
    if parts.human is not None and not human:
        raise ValueError(f"no group that could fill an assignment has an item of {parts.human!r} left")
    always = _draw_ordinary(systems, judgments, human, 1, rng) if human else []
    others = [name for name in fit if name not in always]
    drawn_others = _draw_ordinary(systems, judgments, others, parts.ordinary - len(always), rng)
    drawn: list[tuple[str, ItemKind]] = [(name, "ordinary") for name in (*always, *drawn_others)]
    drawn += _draw_twins(always, drawn_others, parts, rng)
    placed = _place(drawn, systems, positions, rng)
    position_of = {name: at for at, (name, kind) in enumerate(placed, start=1) if kind == "ordinary"}
    return tuple(
        DrawnItem(name, kind, None if kind == "ordinary" else position_of[name], systems[name])
        for name, kind in placed
    )


def _draw_group(
    pool: Mapping[str, PooledItem],
    judgments: Mapping[str, int],
    fit: Sequence[str],
    parts: Composition,
    rng: random.Random,
) -> list[str]:
    """Return the items of a group: of those that can fill an assignment, the one judged least often."""
    groups: dict[str | None, list[str]] = {}
    for name in fit:
        groups.setdefault(pool[name].group, []).append(name)
    able = [
        names
        for names in groups.values()
        if len(names) >= parts.ordinary
        and (parts.human is None or any(pool[name].system == parts.human for name in names))
    ]
    if not able:
        return max(groups.values(), key=len, default=[])
    rng.shuffle(able)
    return min(able, key=lambda names: sum(judgments.get(name, 0) for name in names) / len(names))


def _draw_twins(
    always: Sequence[str], others: Sequence[str], parts: Composition, rng: random.Random
) -> list[tuple[str, ItemKind]]:
    """Draw whose bad twins, repeats and references are shown: all of different items but for `always`.

    Those of `always` have both a bad twin and a repeat.
    """
    left = iter(rng.sample(others, len(others)))
    kinds: tuple[tuple[ItemKind, int, Sequence[str]], ...] = (
        ("bad", parts.bad, always),
        ("repeat", parts.repeat, always),
        ("reference", parts.reference, ()),
    )
    return [
        (name, kind)
        for kind, number, first in kinds
        for name in (*first[:number], *(next(left) for _ in range(number - len(first))))
    ]


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


def draw_scenarios(
    systems: Sequence[str], labels: Sequence[str], counts: Mapping[tuple[str, str], int], seed: int
) -> tuple[str, ...]:
    """Return the label of a scenario for each of `systems`, in their order. Pure.

    A system gets a scenario that it has had least often, so that its counts differ by at most one. Among
    these, it gets one that this worker has met least often, ties by seed.

    Args:
        systems: The systems of a slot, in the order in which the worker meets them.
        labels: The study's scenarios.
        counts: How often each system had each scenario in the held slots; missing means never.
        seed: The seed of the random choices.
    """
    rng = random.Random(seed)
    here: Counter[str] = Counter()
    drawn: dict[int, str] = {}
    for index in rng.sample(range(len(systems)), len(systems)):
        shuffled = rng.sample(list(labels), len(labels))
        label = min(shuffled, key=lambda one: (counts.get((systems[index], one), 0), here[one]))
        here[label] += 1
        drawn[index] = label
    return tuple(drawn[index] for index in range(len(systems)))


def scenarios_of_place(
    connection: Connection, run: OpenRun, place: int, systems: Sequence[str], *, simulated: bool
) -> tuple[str | None, ...]:
    """Return the scenario of each conversation of a slot: its last holder's, or newly drawn ones.

    In a study with scenarios this counts the conversations of the run, in time proportional to their number.
    """
    labels = tuple(run.rules.scenarios)
    if not labels:
        return (None,) * len(systems)
    here = {"run": run.id, "simulated": simulated}
    before = tuple(connection.execute(_EARLIER, {**here, "place": place}).scalars())
    if len(before) == len(systems):
        return before
    counts = {(row.name, row.scenario): row.number for row in connection.execute(_COUNTS, here)}
    seed = derive_seed(run.seed, "scenarios", "simulated" if simulated else "place", place)
    return draw_scenarios(systems, labels, counts, seed)


_LAST_HOLDER = (
    select(AssignmentTable.c.id)
    .where(*IN_RUN, AssignmentTable.c.place == bindparam("place"))
    .where(AssignmentTable.c.id.in_(select(ConversationTable.c.assignment_id)))
    .order_by(AssignmentTable.c.created_at.desc())
    .limit(1)
    .scalar_subquery()
)
_EARLIER = (
    select(ConversationTable.c.scenario)
    .where(ConversationTable.c.assignment_id == _LAST_HOLDER, ConversationTable.c.attempt == 1)
    .order_by(ConversationTable.c.position)
)
_COUNTS = (
    select(SystemTable.c.name, ConversationTable.c.scenario, func.count().label("number"))
    .select_from(ConversationTable)
    .join(AssignmentTable, AssignmentTable.c.id == ConversationTable.c.assignment_id)
    .join(SystemTable, SystemTable.c.id == ConversationTable.c.system_id)
    .where(*IN_RUN, AssignmentTable.c.status.in_([literal_column("'active'"), literal_column("'completed'")]))
    .where(ConversationTable.c.attempt == 1)
    .group_by(SystemTable.c.name, ConversationTable.c.scenario)
)
