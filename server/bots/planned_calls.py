"""Estimate paid calls of a check, a rehearsal or a run, and require confirmation before they are made."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from urllib.parse import urlsplit

from sqlalchemy import Connection

from bots.serving import (
    Endpoint,
    Estimate,
    Moderation,
    PlannedCalls,
    Price,
    estimate,
    in_words,
    planned_calls,
)
from server.bots import stored_bots
from server.bots.fitness import FitnessCheck, calls_of, own_checks
from server.errors import NeedsConfirmation
from server.run_rules import RunRules
from server.session.plan import QC
from server.study import PEOPLE, Study


@dataclass(frozen=True, slots=True)
class Confirmation:
    """Whether the caller has confirmed calls that may cost money.

    `sees_hosts`: the caller may see the addresses of registered bots.
    """

    given: bool
    sees_hosts: bool = True

    def require(self, what: str, planned: Iterable[PlannedCalls]) -> None:
        """Check that `what` costs nothing or is confirmed.

        Raises NeedsConfirmation with the planned calls.
        """
        if not self.given and (asked := self.question(what, planned)) is not None:
            raise NeedsConfirmation(asked)

    def question(self, what: str, planned: Iterable[PlannedCalls]) -> str | None:
        """Return the planned calls of `what` in words, to be confirmed; None if it costs nothing."""
        return in_words(what, [each if self.sees_hosts else replace(each, hosts=()) for each in planned])


@dataclass(frozen=True, slots=True)
class BotCalls:
    """The calls of one bot, paid or not. `endpoint`: None for a builtin bot."""

    bot: str
    endpoint: Endpoint | None
    estimate: Estimate

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts that are called; none for a builtin bot, and for hosts that connect by themselves."""
        addresses = () if self.endpoint is None else self.endpoint.addresses
        return tuple(dict.fromkeys(urlsplit(url).hostname or url for url in addresses))

    @property
    def price(self) -> Price | None:
        """The price of a million tokens, if one is set."""
        return None if self.endpoint is None else self.endpoint.token_price

    @property
    def cost(self) -> float | None:
        """The cost by the bot's price; None if no price is set and its provider may charge."""
        if self.price is not None:
            return self.price.cost(self.estimate.tokens_in, self.estimate.tokens_out)
        return None if self.endpoint is not None and self.endpoint.may_cost else 0.0


def of_check(
    name: str, endpoint: Endpoint, check: FitnessCheck, moderation: Moderation | None
) -> list[PlannedCalls]:
    """Return the calls of the check of a bot."""
    return _of_checks({name: (endpoint, check)}, moderation)


def of_own_checks(study: Study, moderation: Moderation | None, occasion: str = "") -> list[PlannedCalls]:
    """Return the calls of the checks of the study's own bots.

    `occasion`: the prefix of each line.
    """
    checks = own_checks(study, moderation)
    return _of_checks({name: (study.bots[name], checks[name]) for name in checks}, moderation, occasion)


def of_assignments(
    connection: Connection, study: Study, assignments: int, occasion: str = ""
) -> list[PlannedCalls]:
    """Return the calls that may cost money, as `by_bot`. `occasion`: the prefix of each line."""
    return _that_cost(
        planned_calls(f"“{each.bot}”", each.endpoint, each.estimate, occasion)
        for each in by_bot(connection, study, assignments)
        if each.endpoint is not None
    )


def by_bot(connection: Connection, study: Study, assignments: int) -> list[BotCalls]:
    """Return the calls of a study's bots in a number of assignments with conversations of minimum length."""
    registered = {row.name: row.endpoint for row in stored_bots.registrations(connection)}
    endpoints: dict[str, Endpoint] = {**registered, **study.bots}
    return [
        BotCalls(name, endpoints.get(name), estimate(assignments * chats, study.minimum_inputs))
        for name, chats in _chats(study).items()
    ]


def of_run(
    connection: Connection, study: Study, rules: RunRules, moderation: Moderation | None, *, checked: bool
) -> list[PlannedCalls]:
    """Return the calls of a run, in its planned number of assignments, or per assignment if that is unknown.

    `checked`: include the checks of the study's own bots.
    """
    slots = _slots(study, rules)
    occasion = "each assignment: " if slots is None else f"all {slots:,} assignments: "
    assignments = 1 if slots is None else slots
    judged = None
    if moderation is not None and study.moderation == "classifier":
        lines = 2 * round(assignments * sum(_chats(study).values()) * study.minimum_inputs)
        judged = moderation.planned_calls(lines, occasion)
    checks = of_own_checks(study, moderation, "the check before: ") if checked else []
    return _that_cost([*checks, *of_assignments(connection, study, assignments, occasion), judged])


def _slots(study: Study, rules: RunRules) -> int | None:
    """Return the highest number of assignments of a run; None if it is not limited."""
    known = [study.assignments]
    if rules.target is not None:
        known.append(rules.target.assignments)
    if rules.budget is not None:
        known.append(rules.budget.assignments(Decimal(0)))
    return min((number for number in known if number is not None), default=None)


def _of_checks(
    checks: Mapping[str, tuple[Endpoint, FitnessCheck]], moderation: Moderation | None, occasion: str = ""
) -> list[PlannedCalls]:
    """Return the calls of checks, by bot name. Each check calls the moderation service once."""
    asked = [
        planned_calls(f"“{name}”", endpoint, calls_of(check), occasion)
        for name, (endpoint, check) in checks.items()
    ]
    judged = None if moderation is None else moderation.planned_calls(len(checks), occasion)
    return _that_cost([*asked, judged])


def _chats(study: Study) -> Mapping[str, float]:
    """Return the expected number of conversations with each bot in an assignment.

    Systems have equal shares. A bot that can take over from a person counts as if it always did.
    """
    chats: dict[str, float] = defaultdict(float)
    for system, bot in study.bots_of_systems.items():
        name = study.people.take_over if study.people is not None and bot in PEOPLE else bot
        chats[name] += study.qc_per_assignment if system == QC else study.systems_met / len(study.systems)
    return chats


def _that_cost(planned: Iterable[PlannedCalls | None]) -> list[PlannedCalls]:
    return [calls for calls in planned if calls is not None]
