"""Rules of pay: the fair decision, and the decisions that the platform accepts. Pure.

Who has finished is paid, however they rated: the filter of the analysis has no say in it. So is who has
reported a message and left: nobody is to weigh their pay against reading on.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from server.db.recruiting.participations import Participation
from server.db.recruiting.pay_decisions import DecisionKind
from server.db.recruiting.submissions import StoredSubmission
from server.errors import PayRefused
from server.recruiters.prolific.submissions import (
    HIGHEST_SHARE,
    LOWEST_SHARE,
    SHORTEST_REJECTION,
    RejectionCategory,
    Status,
)

REVIEWABLE = frozenset({Status.AWAITING_REVIEW, Status.RETURNED, Status.TIMED_OUT})
UNDER_WAY = frozenset({Status.RESERVED, Status.ACTIVE})
PAID = frozenset({Status.APPROVED, Status.PARTIALLY_APPROVED})
ALL = 100  # per cent of the reward
# The status that a submission has once a decision was carried out; how much it then was paid is another
# question, see `is_done`.
_AFTERWARDS: dict[DecisionKind, Status] = {
    "approve": Status.APPROVED,
    "reject": Status.REJECTED,
    "partial": Status.PARTIALLY_APPROVED,
    "screen_out": Status.SCREENED_OUT,
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


@dataclass(frozen=True, slots=True)
class Standing:
    """How a submission stands at the platform. `paid_share`: per cent of the reward that it was paid.

    None: nothing, or it is not known: the platform says that a reward was paid in part, but not which part.
    """

    status: Status
    paid_share: int | None


def standing_of(status: Status, known: int | None, decided: Collection[int]) -> Standing:
    """Return how a submission stands, by its status, what is known of its pay, and the shares decided of it.

    A payment in part of which nothing is known was of the one share that was ever decided, if it is one: our
    call has paid it, though no answer said so.
    """
    if status == Status.APPROVED:
        return Standing(status, known if known is not None else ALL)
    if status != Status.PARTIALLY_APPROVED:
        return Standing(status, None)
    only = next(iter(decided)) if len(set(decided)) == 1 else None
    return Standing(status, known if known is not None else only)


def is_unknown_part(now: Standing) -> bool:
    """Return whether a submission was paid in part, and nobody here knows which part."""
    return now.status == Status.PARTIALLY_APPROVED and now.paid_share is None


def is_done(decision: DecisionKind, share: int | None, now: Standing) -> bool:
    """Return whether a submission has what was decided: the status, and of a reward the very share."""
    if decision in {"approve", "partial"}:
        return now.status in PAID and now.paid_share == (share if decision == "partial" else ALL)
    return decision != "request_return" and now.status == _AFTERWARDS[decision]


def check_possible(submission: str, decision: DecisionKind, share: int | None, now: Standing) -> None:
    """Check that the platform can still do what is decided, before it is stored; or has done it already.

    Of a payment in part whose share nobody knows, whoever decides a share says what they saw there.

    Raises:
        PayRefused: it says how the submission stands, and what can be done instead.
    """
    if now.status in REVIEWABLE or is_done(decision, share, now):
        return
    if decision == "request_return" and now.status in UNDER_WAY:
        return
    if decision == "partial" and is_unknown_part(now):
        return
    if now.status in UNDER_WAY:
        raise PayRefused(
            f"{submission} is {now.status.lower()} at Prolific: it is paid once it was submitted there",
            "Remind the participant, or wait until the time is up.",
        )
    raise PayRefused(f"{submission} {in_words(now)}: Prolific does not change that", _instead(now))


def in_words(now: Standing) -> str:
    """Return what became of a submission at the platform."""
    if now.status not in PAID:
        return f"is {now.status.lower()} at Prolific"
    if now.paid_share is None:
        return "was paid in part at Prolific, which does not say how much"
    return "was paid in full" if now.paid_share == ALL else f"was paid {now.paid_share} % of the reward"


def _instead(now: Standing) -> str:
    match now.status:
        case Status.REJECTED:
            return "Take the rejection back at Prolific, refresh, and decide again."
        case Status.PARTIALLY_APPROVED | Status.SCREENED_OUT:
            return "Pay the rest as a bonus."
        case Status.APPROVED if now.paid_share != ALL:
            return "Pay the rest as a bonus."
        case _:
            return "What was paid cannot be taken back."
