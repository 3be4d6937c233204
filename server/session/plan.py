"""Plan a conversation from seeds: its system, persona and ice-breaker. Pure."""

import hashlib
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from server.session.instrument import Side
from server.session.records import ConversationPlanned, PlannedItem

QC = "qc"


@dataclass(frozen=True, slots=True)
class Variant:
    """A system as the draw needs it: its name and its family."""

    name: str
    family: str


@dataclass(frozen=True)
class LineupSpec:
    """The material for planning conversations: the systems, their persona policies, and the persona pool.

    `policies`: per system "none", "random" (from `personas`), or fixed sentences. `topics`: the topics of
    scenarios that set one, by the scenario's label.
    """

    variants: tuple[Variant, ...]
    policies: Mapping[str, Literal["none", "random"] | tuple[str, ...]]
    personas: tuple[tuple[str, ...], ...]
    icebreakers: bool
    topics: Mapping[str, str] = field(default_factory=dict)

    @property
    def every_persona(self) -> tuple[tuple[str, ...], ...]:
        """The personas of the pool and those of single systems, each once."""
        fixed = (policy for policy in self.policies.values() if not isinstance(policy, str))
        return tuple(dict.fromkeys([*self.personas, *fixed]))


def plan_conversation(
    lineup: LineupSpec,
    assignment: str,
    seed: int,
    position: int,
    attempt: int,
    system: str,
    scenario: str | None = None,
) -> ConversationPlanned:
    """Return the conversation with `system` at a position: its seed, persona and ice-breaker.

    An ice-breaker is a sentence of the system's persona. A system without a persona gets one of a random
    persona that the system is never told (METHOD section 1.3). A scenario's own topic replaces it.
    """
    own_seed = derive_seed(seed, position, attempt)
    rng = random.Random(derive_seed(own_seed, "persona"))
    policy = lineup.policies.get(system, "none")
    drawn = rng.choice(lineup.personas) if lineup.personas else ()
    persona = () if policy == "none" else drawn if policy == "random" else policy
    icebreaker = rng.choice(persona or drawn) if lineup.icebreakers else None
    return ConversationPlanned(
        f"{assignment}-{position}.{attempt}",
        position,
        attempt,
        system,
        own_seed,
        persona,
        icebreaker if scenario is None else lineup.topics.get(scenario, icebreaker),
        scenario=scenario,
    )


def plan_pair(
    lineup: LineupSpec, assignment: str, seed: int, number: int, attempt: int, systems: tuple[str, str]
) -> tuple[ConversationPlanned, ConversationPlanned]:
    """Return pair number `number` of an assignment: the conversation on the left, then the right one."""

    def planned(side: Side, position: int, system: str) -> ConversationPlanned:
        return replace(plan_conversation(lineup, assignment, seed, position, attempt, system), side=side)

    left, right = systems
    return planned("left", 2 * number - 1, left), planned("right", 2 * number, right)


def plan_item(
    assignment: str, seed: int, position: int, system: str, item: PlannedItem
) -> ConversationPlanned:
    """Return an item that a worker is to rate at a position; there is one attempt at it."""
    name = f"{assignment}-{position}.1"
    return ConversationPlanned(name, position, 1, system, derive_seed(seed, position, 1), (), None, item)


def is_left_unrated(plan: ConversationPlanned, rate_share: float) -> bool:
    """Return whether a conversation is one of those, drawn at random, that need not be rated.

    The QC bot's are always rated, because the worker filter needs them.
    """
    if plan.system == QC:
        return False
    return random.Random(derive_seed(plan.seed, "rated")).random() >= rate_share


def assignment_of(conversation: str) -> str:
    """Return the id of the assignment that a conversation planned here belongs to."""
    return conversation.rpartition("-")[0]


def derive_seed(*parts: object) -> int:
    """Return a 63-bit seed that depends on every part and is the same on every machine."""
    text = "\x1f".join(map(str, parts))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1


def replacement(failed: str, variants: Sequence[Variant], met: Iterable[str], seed: int) -> str | None:
    """Return the system that replaces one that failed, or None if none is left.

    Another variant of the same family comes first; then a system of a family not yet met; then any system not
    yet met. `met` names the systems of the whole assignment, planned ones too.
    """
    rng = random.Random(seed)
    met = set(met) | {failed}
    family = {v.name: v.family for v in variants}
    unmet = [v for v in variants if v.name not in met]
    met_families = {family[name] for name in met if name in family}
    siblings = [v.name for v in unmet if v.family == family.get(failed)]
    strangers = [v.name for v in unmet if v.family not in met_families]
    candidates = siblings or strangers or [v.name for v in unmet]
    return rng.choice(sorted(candidates)) if candidates else None
