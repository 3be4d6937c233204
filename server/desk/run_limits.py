"""State of a run against its rules: target, room for newcomers, spending."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from server.clock import utc_now
from server.db.run_rules import rules_of
from server.db.runs import RunEntry
from server.db.standing import standing
from server.desk.responses import RunLimits
from server.run_rules import RunRules, Standing, in_words, is_open, needed, next_opening, places_open
from server.study import Study


@dataclass(frozen=True, slots=True)
class Limits:
    """What is shown of a run's rules; `wanted`: how many assignments there are to be, where that is known."""

    shown: RunLimits
    wanted: int | None


def limits_of(connection: Connection, run: RunEntry, study: Study) -> Limits:
    """Return how a run stands with its rules, by what arrivals go by."""
    rules = rules_of(connection, run.id)
    stands = standing(connection, run.id, study, rules)
    budget = rules.budget
    shown = RunLimits(
        target=in_words(rules.target),
        places_open=places_open(rules, stands) if run.status == "open" else 0,
        opens_at=_opens_at(rules) if run.status == "open" else None,
        spent=None if budget is None else float(stands.counts.spent(budget)),
        budget=None if budget is None else float(budget.total),
        retention="" if study.retention is None else study.retention.in_words(run.closed_at),
        currency="" if budget is None else budget.currency,
    )
    return Limits(shown, _wanted(rules, stands))


def _opens_at(rules: RunRules) -> datetime | None:
    hours, now = rules.opening_hours, utc_now()
    return None if hours is None or is_open(hours, now) else next_opening(hours, now)


def _wanted(rules: RunRules, stands: Standing) -> int | None:
    more = needed(rules, stands)
    known = [] if more is None else [stands.counts.completed + more]
    if stands.places is not None:
        known.append(stands.places)
    if rules.budget is not None:
        affordable = rules.budget.assignments(stands.counts.besides(rules.budget))
        known.append(max(affordable - stands.counts.left_paid, 0))
    return min(known, default=None)
