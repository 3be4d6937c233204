"""Two people who decide of the same pay."""

import asyncio
from typing import Any

import pytest

from server.db.pay_decisions import DecisionKind
from server.errors import DecidedAlready
from server.recruiting.pay import Pay
from tests.server.support.recruiting import Person, Recruiting
from tests.server.support.server import stored

SORRY = "A chatbot of ours failed."


async def decide(
    recruiting: Recruiting, name: str, submission: str, decision: DecisionKind, **more: Any
) -> str | None:
    """Decide in a process of one's own; return why that is refused, or None."""
    with recruiting.another_process() as (store, platform):
        try:
            await Pay(store, platform).decide(recruiting.run, [submission], decision, Person(name), **more)
        except DecidedAlready as error:
            return error.message
    return None


@pytest.mark.databases("sqlite", "postgresql")
def test_of_two_who_decide_at_once_the_first_counts(recruiting: Recruiting) -> None:
    recruiting.publish()
    submission = recruiting.finish("PID-ann")
    recruiting.refreshed()

    async def both() -> list[str | None]:
        return list(
            await asyncio.gather(
                decide(recruiting, "ann", submission, "approve"),
                decide(recruiting, "bob", submission, "partial", share=40, reason=SORRY),
            )
        )

    told = asyncio.run(both())
    ((who, what, number),) = stored(recruiting.house, "SELECT decided_by, decision, id FROM payment_decision")
    (refused,) = [one for one in told if one is not None]
    assert refused.startswith(f"{submission}: {who} decided `{what}` at ")
    assert refused.endswith(f"(decision {number})")
    paid = {"approve": 450, "partial": 180}  # 40 % of 450
    assert recruiting.prolific.platform.submission(submission).paid == paid[what]
    assert len(stored(recruiting.house, "SELECT 1 FROM audit_entry WHERE action LIKE 'pay.%'")) == 1


def test_who_sends_a_decision_again_whose_answer_was_lost_is_answered_the_same(
    recruiting: Recruiting,
) -> None:
    recruiting.publish()
    submissions = [recruiting.finish(f"PID-{name}") for name in ("ann", "bob")]
    recruiting.refreshed()
    for decision in (
        {"decision": "request_return", "reason": "You did not take part."},
        {"decision": "approve"},
    ):
        one = {"submissions": submissions[:1], **decision}
        before = stored(recruiting.house, "SELECT max(id) FROM payment_decision")[0][0]
        instead = {"instead_of": [before]} if before else {}
        first = recruiting.ask("/decisions", **one, **instead)
        asked = recruiting.prolific.platform.submission(submissions[0]).return_requested
        assert recruiting.ask("/decisions", **one, **instead) == first
        assert recruiting.prolific.platform.submission(submissions[0]).return_requested == asked
    assert stored(recruiting.house, "SELECT count(*) FROM payment_decision") == [(2,)]
    # Of two, of which one was decided so before: that one is a repeat.
    recruiting.ask("/decisions", submissions=submissions, decision="approve")
    assert stored(recruiting.house, "SELECT count(*) FROM payment_decision") == [(3,)]
    otherwise = {"decision": "partial", "share": 40, "reason": SORRY}
    assert recruiting.refused("/decisions", submissions=submissions, **otherwise) == "decided_already"


def test_who_names_what_was_decided_decides_otherwise(recruiting: Recruiting) -> None:
    recruiting.publish()
    submissions = [recruiting.finish(f"PID-{name}") for name in ("ann", "bob")]
    recruiting.refreshed()
    asked = {"decision": "request_return", "reason": "You did not take part."}
    rows = recruiting.ask("/decisions", submissions=submissions[:1], **asked)["recruitment"]["submissions"]
    number = next(row["decision"]["number"] for row in rows if row["decision"])
    approved = {"submissions": submissions, "decision": "approve"}
    # One of them is known to be undecided: neither is stored while the other is not named.
    for instead_of in ([], [number + 1]):
        assert recruiting.refused("/decisions", **approved, instead_of=instead_of) == "decided_already"
    assert stored(recruiting.house, "SELECT count(*) FROM payment_decision") == [(1,)]
    recruiting.ask("/decisions", **approved, instead_of=[number])
    assert [recruiting.prolific.platform.submission(one).paid for one in submissions] == [450, 450]
    # It was named before the other counted: that one is not replaced unseen.
    otherwise = {"submissions": submissions, "decision": "partial", "share": 40, "reason": SORRY}
    assert recruiting.refused("/decisions", **otherwise, instead_of=[number]) == "decided_already"
