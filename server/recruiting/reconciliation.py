"""Compare the platform's records with ours. Each difference has a remedy. Pure functions."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Literal

from server.db.recruiting.bonuses import StoredBatch
from server.db.recruiting.pay_decisions import PayShare
from server.db.recruiting.submissions import Participation, StoredSubmission
from server.recruiters.pay_platform import Status
from server.recruiting.bonuses import is_overdue
from server.recruiting.pay_rules import (
    ASKED_TO_RETURN,
    REVIEWABLE,
    UNDER_WAY,
    is_done,
    share_of,
    standing_of,
)
from server.run_rules import Budget

DifferenceKind = Literal[
    "decision_not_carried_out",
    "settled_otherwise",
    "left_there",
    "finished_after_giving_up",
    "not_handed_in",
    "wrong_code",
    "stopped_by_us",
    "handed_in_unfinished",
    "never_seen_here",
    "not_known_there",
    "bonus_not_paid",
    "other_currency",
]
Remedy = Literal[
    "repeat",
    "decide_again",
    "release",
    "approve",
    "remind",
    "partial",
    "request_return",
    "exclude",
    "look",
    "change_budget",
]
_GONE = frozenset({Status.RETURNED, Status.TIMED_OUT, Status.REJECTED})
_PAID_IN_FULL = frozenset({"complete", "reported"})  # endings, each with a code of its own


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference between the platform's records and ours.

    `submission`, `assignment`, `batch`: its subject, as far as it has one. `share`: for the remedy `partial`,
    the share to pay; for `settled_otherwise`, the paid share if it is known.
    """

    kind: DifferenceKind
    remedy: Remedy
    submission: str | None
    assignment: str | None
    share: int | None = None
    batch: int | None = None


_Found = Callable[[DifferenceKind, Remedy], Difference]


def by_submission(ours: Iterable[Participation]) -> dict[str, Participation]:
    """Return our record of each submission, by submission."""
    return {visit: one for one in ours for visit in one.visits}


def differences(
    theirs: Sequence[StoredSubmission],
    ours: Sequence[Participation],
    decisions: Mapping[str, PayShare],
    endings: Mapping[str, str],
    shares: Mapping[str, Collection[int]] = MappingProxyType({}),
) -> list[Difference]:
    """Return the differences, first of submissions in order, then of assignments without a submission.

    Args:
        theirs: all submissions of the study.
        ours: all assignments of the run whose workers came from the platform.
        decisions: the decisions about submissions, by submission.
        endings: the endings of the study's completion codes, by code.
        shares: all shares that were ever decided, by submission.
    """
    owner = by_submission(ours)
    latest = {one.assignment: one.visits[-1] for one in ours if one.visits}
    found: list[Difference] = []
    for submission in theirs:
        whose = owner.get(submission.id)
        if whose is not None and latest[whose.assignment] != submission.id:
            continue  # the worker returned this submission and reserved another, which counts
        decision = decisions.get(submission.id)
        if decision is None:
            one = _difference(submission, whose, endings)
        else:
            one = _of_decided(submission, whose, decision, shares.get(submission.id, ()))
        if one is not None:
            found.append(one)
    known = {submission.id for submission in theirs}
    strangers = (one for one in ours if known.isdisjoint(one.visits) and not one.excluded)
    return [*found, *(Difference("not_known_there", "exclude", None, one.assignment) for one in strangers)]


def study_differences(
    batches: Iterable[StoredBatch], currency: str | None, budget: Budget | None, now: datetime
) -> list[Difference]:
    """Return the differences of a study as a whole: overdue bonuses, and a wrong currency.

    Args:
        batches: all bonuses of the study.
        currency: the platform's currency; None if unknown.
        budget: the run's budget.
        now: the current time.
    """
    found = [
        Difference("bonus_not_paid", "look", None, None, batch=batch.id)
        for batch in batches
        if is_overdue(batch, now)
    ]
    if budget is not None and budget.is_in_another(currency):
        found.append(Difference("other_currency", "change_budget", None, None))
    return found


def _of_decided(
    theirs: StoredSubmission, ours: Participation | None, decision: PayShare, shares: Collection[int]
) -> Difference | None:
    """Return the difference between a decision and the platform's record; None if they agree."""
    status, assignment = Status(theirs.status), None if ours is None else ours.assignment
    if decision.decision == "request_return":
        return None  # participants may return a place at any time
    if status == Status.APPROVED and theirs.paid_share is None and decision.decision == "partial":
        return None  # the list does not contain the paid share; the next reading gets it
    now = standing_of(status, theirs.paid_share, shares)
    if is_done(decision.decision, decision.share, now):
        return None
    if status in REVIEWABLE | UNDER_WAY | {Status.UNKNOWN}:
        return Difference("decision_not_carried_out", "repeat", theirs.id, assignment)
    return Difference("settled_otherwise", "decide_again", theirs.id, assignment, now.paid_share)


def _difference(
    theirs: StoredSubmission,
    ours: Participation | None,
    endings: Mapping[str, str],
) -> Difference | None:
    status, assignment = Status(theirs.status), None if ours is None else ours.assignment
    ending = endings.get(theirs.code or "")

    def found(kind: DifferenceKind, remedy: Remedy, share: int | None = None) -> Difference:
        return Difference(kind, remedy, theirs.id, assignment, share)

    if ending in ASKED_TO_RETURN and (ours is None or not ours.earned_all):
        return None
    if ours is None:
        return found("never_seen_here", "request_return") if status == Status.AWAITING_REVIEW else None
    if ours.status == "active" and status in _GONE:
        return found("left_there", "release")
    if ours.earned_all:
        return _of_finished(status, ending, found)
    if status != Status.AWAITING_REVIEW:
        return None
    if ours.failed > 0:
        return found("stopped_by_us", "partial", share_of(ours))
    return found("handed_in_unfinished", "request_return")


def _of_finished(status: Status, ending: str | None, found: _Found) -> Difference | None:
    if status in {Status.RETURNED, Status.TIMED_OUT}:
        return found("finished_after_giving_up", "approve")
    if status in UNDER_WAY:
        return found("not_handed_in", "remind")
    if status == Status.AWAITING_REVIEW and ending not in _PAID_IN_FULL:
        return found("wrong_code", "approve")
    return None
