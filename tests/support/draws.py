"""Check that each draw of a run was fair, from its slots and from the log of systems that were away."""

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import product

Plan = tuple[str, ...]
Draw = tuple[int, Plan]  # the place, and the systems that were drawn for it


def unfair_draws(
    plans: Mapping[int, Plan],
    families: Mapping[str, str],
    away: Mapping[Draw, Sequence[Collection[str]]],
) -> list[int]:
    """Return the places whose draw passed one over that had fewer conversations and was not away.

    Places are drawn in the order of their numbers, and are taken to be held from then on, with all of their
    conversations.

    Args:
        plans: by place, the systems that were drawn for it.
        families: of each system that can be drawn, the family.
        away: by draw, the systems whose bots were away; more than one answer where it was made more than
            once, as the transaction of one was not kept. It is fair if it is so by any of them.
    """
    counts: Counter[str] = Counter()
    unfair = []
    for place, plan in sorted(plans.items()):
        drawn = [system for system in plan if system in families]
        if not any(_is_fair(drawn, families, counts, gone) for gone in away.get((place, plan), [()])):
            unfair.append(place)
        counts.update(drawn)
    return unfair


def _is_fair(
    drawn: Sequence[str], families: Mapping[str, str], counts: Counter[str], away: Collection[str]
) -> bool:
    """Return whether no family, and of a drawn family no variant, should have been drawn instead."""
    totals: Counter[str] = Counter()
    for system, family in families.items():
        totals[family] += counts[system]
    able = {family for system, family in families.items() if system not in away}
    chosen = {families[system] for system in drawn}
    for family, other in product(chosen, able - chosen):
        if family not in able or totals[other] < totals[family]:
            return False
    for system, other in product(drawn, families.keys() - set(away)):
        is_sister = other != system and families[other] == families[system]
        if is_sister and (system in away or counts[other] < counts[system]):
            return False
    return True


def away_at(log: Iterable[str]) -> dict[Draw, list[frozenset[str]]]:
    """Return, by draw, the systems that a server's log says were away. A killed server ends within a line."""
    found: dict[Draw, list[frozenset[str]]] = defaultdict(list)
    for line in log:
        if '"drawn while bots are away"' in line and line.startswith("{") and line.endswith("}"):
            entry = json.loads(line)
            found[entry["place"], tuple(entry["plan"])].append(frozenset(entry["away"]))
    return found
