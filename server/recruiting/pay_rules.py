"""Rules of pay: the fair decision, and the decisions that the platform accepts. Pure.

Who has finished is paid, however they rated: the filter of the analysis has no say in it. So is who has
reported a message and left: nobody is to weigh their pay against reading on.
"""

from dataclasses import dataclass
from typing import Literal

from server.db.participations import Participation
from server.db.pay_decisions import DecisionKind
from server.db.submissions import StoredSubmission
from server.errors import PayRefused
from server.recruiters.prolific.submissions import (
    HIGHEST_SHARE,
    LOWEST_SHARE,
    SHORTEST_REJECTION,
    RejectionCategory,
    Status,
)

REVIEWABLE = frozenset({Status.AWAITING_REVIEW, Status.RETURNED, Status.TIMED_OUT})
# The status that a submission has once a decision was carried out. The platform's list of submissions shows
# a payment in part as approved.
AFTERWARDS: dict[DecisionKind, frozenset[Status]] = {
    "approve": frozenset({Status.APPROVED}),
    "reject": frozenset({Status.REJECTED}),
    "partial": frozenset({Status.PARTIALLY_APPROVED, Status.APPROVED}),
    "screen_out": frozenset({Status.SCREENED_OUT}),
    "request_return": frozenset(),
}
_LONGEST_REASON = 2_000

ASKED_TO_RETURN = frozenset({"no_consent", "returned"})  # by the platform, as the code of their ending says


@dataclass(frozen=True, slots=True)
class Proposal:
    """What should become of a submission's pay.

    `pay`: `all`, `part` (`share` per cent), or `nothing`, which means that it could be rejected, for `why`.
    """

    submission: str
    pay: Literal["all", "part", "nothing"]
    share: int | None
    why: str


def proposal(
    theirs: StoredSubmission, ours: Participation | None, ending: str | None = None
) -> Proposal | None:
    """Return what should become of a submission's pay; None: there is nothing to decide (yet).

    `ending`: that of the code with which the participant came back.
    """
    status = Status(theirs.status)
    if status not in REVIEWABLE:
        return None
    if ours is not None and ours.earned_all:
        why = "finished here" if ours.status == "completed" else "left after reporting a message"
        return Proposal(theirs.id, "all", None, why)
    if ours is not None and ours.failed > 0 and ours.status != "active":
        share = share_of(ours)
        why = f"a chatbot failed, and {ours.rated} of {ours.conversations} conversations were rated"
        return Proposal(theirs.id, "part", share, why)
    if status != Status.AWAITING_REVIEW or ending in ASKED_TO_RETURN:
        return None  # given back, run out or asked to give back, and not finished here either
    if ours is None:
        return Proposal(theirs.id, "nothing", None, "handed in, and never seen here")
    why = f"handed in with {ours.rated} of {ours.conversations} conversations rated"
    return Proposal(theirs.id, "nothing", None, why)


def share_of(ours: Participation) -> int:
    """Return the per cent of the work that was done, within what the platform pays in part."""
    done = round(100 * ours.rated / ours.conversations) if ours.conversations else 0
    return max(LOWEST_SHARE, min(HIGHEST_SHARE, done))


def check_decision(decision: DecisionKind, share: int | None, category: str | None, reason: str) -> None:
    """Check a decision against the platform's rules, before anything is stored or sent.

    Raises:
        PayRefused: it says what is missing, or does not belong.
    """
    if len(reason) > _LONGEST_REASON:
        raise PayRefused(f"the reason has {len(reason)} characters, and may have {_LONGEST_REASON}")
    if (share is not None) != (decision == "partial"):
        raise PayRefused("a share belongs to a payment in part, and to no other decision")
    if share is not None and not LOWEST_SHARE <= share <= HIGHEST_SHARE:
        raise PayRefused(f"{share} % of the reward: in part, {LOWEST_SHARE} to {HIGHEST_SHARE} % can be paid")
    if (category is not None) != (decision == "reject"):
        raise PayRefused("a category belongs to a rejection, and to no other decision")
    if decision == "reject":
        _check_rejection(category or "", reason)
    elif decision in {"partial", "request_return"} and not reason:
        raise PayRefused("the participant reads the reason: write one")


def _check_rejection(category: str, reason: str) -> None:
    if category not in set(RejectionCategory):
        raise PayRefused(
            f"`{category}` is no category of a rejection", f"One of {', '.join(RejectionCategory)}."
        )
    if len(reason) < SHORTEST_REJECTION:
        raise PayRefused(
            f"the reason has {len(reason)} characters, and a rejection needs {SHORTEST_REJECTION} or more",
            "Say what was asked, what was done instead, and how the participant can answer.",
        )
