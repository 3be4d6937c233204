"""Rules of pay: the fair decision, and the decisions that the platform accepts. Pure functions.

All workers who finish are paid, whether or not they pass quality control. So are workers who reported a
message and left: nobody should have to read on for their pay.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from server.db.recruiting.pay_decisions import DecisionKind
from server.db.recruiting.submissions import Participation, StoredSubmission
from server.errors import PayRefused
from server.recruiters.pay_platform import (
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
# The status of a submission after a decision was carried out. `is_done` also checks the paid share.
_AFTERWARDS: dict[DecisionKind, Status] = {
    "approve": Status.APPROVED,
    "reject": Status.REJECTED,
    "partial": Status.PARTIALLY_APPROVED,
    "screen_out": Status.SCREENED_OUT,
}
_LONGEST_REASON = 2_000

ASKED_TO_RETURN = frozenset({"no_consent", "returned"})  # endings for which the platform asks for a return


@dataclass(frozen=True, slots=True)
class Proposal:
    """The proposed pay of a submission.

    `pay`: `all`, `part` (`share` per cent), or `nothing`, which means that it could be rejected. `why`: the
    reason.
    """

    submission: str
    pay: Literal["all", "part", "nothing"]
    share: int | None
    why: str


def proposal(
    theirs: StoredSubmission, ours: Participation | None, ending: str | None = None
) -> Proposal | None:
    """Return the proposed pay of a submission; None if there is nothing to decide (yet).

    `ending`: the ending of the participant's completion code.
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
        return None  # returned, timed out or asked to return, and not finished here either
    if ours is None:
        return Proposal(theirs.id, "nothing", None, "submitted, but never seen here")
    why = f"submitted with {ours.rated} of {ours.conversations} conversations rated"
    return Proposal(theirs.id, "nothing", None, why)


def share_of(ours: Participation) -> int:
    """Return the finished share of the work in per cent, within the platform's limits of partial payments."""
    done = round(100 * ours.rated / ours.conversations) if ours.conversations else 0
    return max(LOWEST_SHARE, min(HIGHEST_SHARE, done))


def check_decision(decision: DecisionKind, share: int | None, category: str | None, reason: str) -> None:
    """Check a decision against the platform's rules, before anything is stored or sent.

    Raises:
        PayRefused: something is missing or superfluous; the message says what.
    """
    if len(reason) > _LONGEST_REASON:
        raise PayRefused(f"The reason has {len(reason)} characters; at most {_LONGEST_REASON} are allowed")
    if (share is not None) != (decision == "partial"):
        raise PayRefused("A partial payment needs a share, and no other decision may have one")
    if share is not None and not LOWEST_SHARE <= share <= HIGHEST_SHARE:
        raise PayRefused(f"A partial payment must be {LOWEST_SHARE} to {HIGHEST_SHARE} %, not {share} %")
    if (category is not None) != (decision == "reject"):
        raise PayRefused("A rejection needs a category, and no other decision may have one")
    if decision == "reject":
        _check_rejection(category or "", reason)
    elif decision in {"partial", "request_return"} and not reason:
        raise PayRefused("The participant reads the reason: write one")


def _check_rejection(category: str, reason: str) -> None:
    if category not in set(RejectionCategory):
        raise PayRefused(
            f"“{category}” is not a category of rejections", f"Choose one of {', '.join(RejectionCategory)}."
        )
    if len(reason) < SHORTEST_REJECTION:
        raise PayRefused(
            f"The reason has {len(reason)} characters, and a rejection needs at least {SHORTEST_REJECTION}",
            "Write what was asked, what was done instead, and how the participant can answer.",
        )


@dataclass(frozen=True, slots=True)
class PayStanding:
    """The state of a submission at the platform. `paid_share`: the paid share of the reward in per cent.

    None: nothing was paid, or the share is unknown, because the platform does not tell the share of partial
    payments.
    """

    status: Status
    paid_share: int | None


def standing_of(status: Status, known: int | None, decided: Collection[int]) -> PayStanding:
    """Return the state of a submission from its status, its known paid share, and all shares decided for it.

    If the share of a partial payment is unknown and only one share was ever decided, it is that share: our
    call paid it, although no answer confirmed it.
    """
    if status == Status.APPROVED:
        return PayStanding(status, known if known is not None else ALL)
    if status != Status.PARTIALLY_APPROVED:
        return PayStanding(status, None)
    only = next(iter(decided)) if len(set(decided)) == 1 else None
    return PayStanding(status, known if known is not None else only)


def is_unknown_part(now: PayStanding) -> bool:
    """Return whether a submission was paid in part, with an unknown share."""
    return now.status == Status.PARTIALLY_APPROVED and now.paid_share is None


def is_done(decision: DecisionKind, share: int | None, now: PayStanding) -> bool:
    """Return whether a decision is carried out: the status and, for payments, the share agree with it."""
    if decision in {"approve", "partial"}:
        return now.status in PAID and now.paid_share == (share if decision == "partial" else ALL)
    return decision != "request_return" and now.status == _AFTERWARDS[decision]


def check_possible(
    submission: str, decision: DecisionKind, share: int | None, now: PayStanding, platform: str
) -> None:
    """Check that the platform can still carry out a decision, or has done so already.

    For a partial payment with an unknown share, deciding a share means stating the share seen at the
    platform. `platform`: its name.

    Raises:
        PayRefused: the message gives the state of the submission, the hint an alternative.
    """
    if now.status in REVIEWABLE or is_done(decision, share, now):
        return
    if decision == "request_return" and now.status in UNDER_WAY:
        return
    if decision == "partial" and is_unknown_part(now):
        return
    if now.status in UNDER_WAY:
        raise PayRefused(
            f"{submission} is {now.status.lower()} at {platform}: it can be paid once it is submitted there",
            "Remind the participant, or wait until the time is over.",
        )
    raise PayRefused(
        f"{submission} {in_words(now, platform)}: {platform} does not change that", _instead(now, platform)
    )


def in_words(now: PayStanding, platform: str) -> str:
    """Return the state of a submission at the platform, given by its name, in words."""
    if now.status not in PAID:
        return f"is {now.status.lower()} at {platform}"
    if now.paid_share is None:
        return f"was paid in part at {platform}, which does not say how much"
    return "was paid in full" if now.paid_share == ALL else f"was paid {now.paid_share} % of the reward"


def _instead(now: PayStanding, platform: str) -> str:
    match now.status:
        case Status.REJECTED:
            return f"Withdraw the rejection at {platform}, refresh, and decide again."
        case Status.PARTIALLY_APPROVED | Status.SCREENED_OUT:
            return "Pay the rest as a bonus."
        case Status.APPROVED if now.paid_share != ALL:
            return "Pay the rest as a bonus."
        case _:
            return "What was paid cannot be taken back."
