"""Compare the platform's records with ours: each difference has a remedy. Pure."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from server.db.participations import Participation
from server.db.pay_decisions import Decision
from server.db.submissions import StoredSubmission
from server.recruiters.prolific.submissions import Status
from server.recruiting.pay_rules import AFTERWARDS, ASKED_TO_RETURN, share_of

DifferenceKind = Literal[
    "decision_not_carried_out",
    "left_there",
    "finished_after_giving_up",
    "not_handed_in",
    "wrong_code",
    "stopped_by_us",
    "handed_in_unfinished",
    "never_seen_here",
    "not_known_there",
]
Remedy = Literal["repeat", "release", "approve", "remind", "partial", "request_return", "exclude"]
_GONE = frozenset({Status.RETURNED, Status.TIMED_OUT, Status.REJECTED})
_PAID_IN_FULL = frozenset({"complete", "reported"})  # endings, each with a code of its own
_UNDER_WAY = frozenset({Status.RESERVED, Status.ACTIVE})


@dataclass(frozen=True, slots=True)
class Difference:
    """Something on which the two do not agree.

    `submission`, `assignment`: which it is about, as far as there is one. `share`: what would be paid, of a
    remedy `partial`.
    """

    kind: DifferenceKind
    remedy: Remedy
    submission: str | None
    assignment: str | None
    share: int | None = None


_Found = Callable[[DifferenceKind, Remedy], Difference]


def by_submission(ours: Iterable[Participation]) -> dict[str, Participation]:
    """Return whose assignment each submission is."""
    return {visit: one for one in ours for visit in one.visits}


def differences(
    theirs: Sequence[StoredSubmission],
    ours: Sequence[Participation],
    decisions: Mapping[str, Decision],
    endings: Mapping[str, str],
) -> list[Difference]:
    """Return the differences: those of submissions in their order, then those of assignments without one.

    Args:
        theirs: every submission of the study.
        ours: every assignment of the run whose worker has come from the platform.
        decisions: what was decided of submissions, by submission.
        endings: what each completion code of the study means, by the code.
    """
    owner = by_submission(ours)
    latest = {one.assignment: one.visits[-1] for one in ours if one.visits}
    found: list[Difference] = []
    for submission in theirs:
        whose = owner.get(submission.id)
        if whose is not None and latest[whose.assignment] != submission.id:
            continue  # given back, and taken again: the later one counts
        one = _difference(submission, whose, decisions.get(submission.id), endings)
        if one is not None:
            found.append(one)
    known = {submission.id for submission in theirs}
    strangers = (one for one in ours if known.isdisjoint(one.visits) and not one.excluded)
    return [*found, *(Difference("not_known_there", "exclude", None, one.assignment) for one in strangers)]


def _difference(
    theirs: StoredSubmission,
    ours: Participation | None,
    decision: Decision | None,
    endings: Mapping[str, str],
) -> Difference | None:
    status, assignment = Status(theirs.status), None if ours is None else ours.assignment
    ending = endings.get(theirs.code or "")

    def found(kind: DifferenceKind, remedy: Remedy, share: int | None = None) -> Difference:
        return Difference(kind, remedy, theirs.id, assignment, share)

    if decision is not None:
        wanted = AFTERWARDS[decision.decision]
        undone = wanted and status not in wanted
        return found("decision_not_carried_out", "repeat") if undone else None
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
    if status in _UNDER_WAY:
        return found("not_handed_in", "remind")
    if status == Status.AWAITING_REVIEW and ending not in _PAID_IN_FULL:
        return found("wrong_code", "approve")
    return None
