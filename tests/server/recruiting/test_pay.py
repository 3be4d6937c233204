"""Two people who decide of the same pay."""

import asyncio
from collections.abc import Awaitable
from typing import Any

import pytest

from server.db.recruiting.pay_decisions import DecisionKind
from server.errors import DecidedAlready, PayRefused
from server.recruiters.stand_in.serving import Fault
from server.recruiting.pay import Pay
from tests.server.support.recruiting import CODE, Person, Recruiting
from tests.server.support.server import stored

SORRY = "A chatbot of ours failed."


async def refusal(call: Awaitable[None]) -> str | None:
    """Return why a decision is refused, or None."""
    try:
        await call
    except (DecidedAlready, PayRefused) as error:
        return error.message
    return None


async def decide(
    recruiting: Recruiting, name: str, submission: str, decision: DecisionKind, **more: Any
) -> str | None:
    """Decide in a process of one's own; return why that is refused, or None."""
    with recruiting.another_process() as (store, platform):
        pay = Pay(store, platform)
        return await refusal(pay.decide(recruiting.run, [submission], decision, Person(name), **more))


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
    if not refused.startswith(f"{submission} was paid "):  # there, before the second one looked
        assert refused.startswith(f"{submission}: {who} decided “{what}” at ")
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


WHY = (
    "You were asked to write five messages in each chat, and wrote one in each. Please write to us if not so."
)
PART_30: dict[str, Any] = {"decision": "partial", "share": 30, "reason": SORRY}
PART_80: dict[str, Any] = {"decision": "partial", "share": 80, "reason": SORRY}
APPROVE: dict[str, Any] = {"decision": "approve"}
REJECT: dict[str, Any] = {"decision": "reject", "category": "LOW_EFFORT", "reason": WHY}


def decided(recruiting: Recruiting, submission: str) -> list[tuple[str, int | None]]:
    query = f"SELECT decision, share FROM payment_decision WHERE submission_id = '{submission}' ORDER BY id"  # noqa: S608
    return [(row[0], row[1]) for row in stored(recruiting.house, query)]


def row_of(recruitment: dict[str, Any], submission: str) -> dict[str, Any]:
    (row,) = [row for row in recruitment["submissions"] if row["submission"] == submission]
    return dict(row)


@pytest.mark.databases("sqlite", in_soak=["postgresql"])
def test_what_was_paid_is_not_decided_otherwise(recruiting: Recruiting) -> None:
    recruiting.publish(places=10)
    # What is decided first, then in its place; what was paid of 450; what is said of it.
    cases: list[tuple[dict[str, Any], dict[str, Any], int, str]] = [
        (PART_30, PART_80, 135, "was paid 30 % of the reward"),
        (PART_30, APPROVE, 135, "was paid 30 % of the reward"),
        (APPROVE, PART_30, 450, "was paid in full"),
        (APPROVE, REJECT, 450, "was paid in full"),
        (REJECT, APPROVE, 0, "is rejected at Prolific"),
        (REJECT, PART_30, 0, "is rejected at Prolific"),
    ]
    submissions = [recruiting.finish(f"PID-{number}") for number in range(len(cases))]
    recruiting.refreshed()
    for submission, (first, second, paid, said) in zip(submissions, cases, strict=True):
        shown = recruiting.ask("/decisions", submissions=[submission], **first)["recruitment"]
        number = row_of(shown, submission)["decision"]["number"]
        answer = recruiting.house.desk(
            f"/runs/{recruiting.run}/recruitment/decisions",
            method="POST",
            json={"submissions": [submission], "instead_of": [number], **second},
        )
        assert answer.status_code == 422, answer.text
        error = answer.json()["error"]
        assert error["code"] == "pay_refused"
        assert f"{submission} {said}" in error["message"]
        # Nothing of it is stored, and nothing else was paid.
        assert decided(recruiting, submission) == [(first["decision"], first.get("share"))]
        assert recruiting.prolific.platform.submission(submission).paid == paid
    found = recruiting.refreshed()
    assert found["differences"] == []
    shares = [row_of(found, submission)["paid_share"] for submission in submissions]
    assert shares == [30, 30, 100, 100, None, None]
    # What was paid may be decided by somebody else, as it changes nothing.
    number = row_of(found, submissions[0])["decision"]["number"]
    same = {"submissions": submissions[:1], "instead_of": [number], **PART_30, "reason": "As it was paid."}
    assert recruiting.ask("/decisions", **same)["recruitment"]["differences"] == []


def test_nothing_is_decided_of_who_is_still_under_way(recruiting: Recruiting) -> None:
    recruiting.publish()
    submission, _ = recruiting.begin("PID-ann")
    recruiting.refreshed()
    assert recruiting.refused("/decisions", submissions=[submission], **APPROVE) == "pay_refused"
    assert decided(recruiting, submission) == []


def test_what_the_platform_has_settled_otherwise_is_shown_until_that_is_decided(
    recruiting: Recruiting,
) -> None:
    """Four decisions do not arrive; somebody settles the four at the platform's own site meanwhile."""
    recruiting.publish()
    platform, study = recruiting.prolific.platform, recruiting.shown()["study"]
    ann, bob, cay, dee = (recruiting.finish(f"PID-{name}") for name in ("ann", "bob", "cay", "dee"))
    recruiting.refreshed()
    code = platform.study(study).given["completion_codes"]
    (in_part,) = [one["code"] for one in code if one["actions"][0]["action"] == "DYNAMIC_PAYMENT"]
    for submission, body in ((ann, PART_80), (bob, PART_80), (cay, APPROVE), (dee, APPROVE)):
        recruiting.prolific.faults.due.append(Fault("broken", f"{submission}/transition"))
        assert recruiting.refused("/decisions", submissions=[submission], **body) == "platform_unsure"
    share = {"completion_code_data": {"percentage_of_reward": 30}, "completion_code": in_part}
    platform.move(ann, {"action": "APPROVE"})
    platform.move(bob, {"action": "COMPLETE", **share})
    platform.move(cay, {"action": "COMPLETE", **share})
    platform.move(dee, {"action": "REJECT", "rejection_category": "OTHER", "message": WHY})
    found = {one["submission"]: one for one in recruiting.refreshed()["differences"]}
    # That bob was paid in part agrees, as far as anybody can tell: the platform does not say which part, and
    # we have asked for 80 %.
    assert {one: (row["kind"], row["remedy"], row["share"]) for one, row in found.items()} == {
        ann: ("settled_otherwise", "decide_again", 100),
        cay: ("settled_otherwise", "decide_again", None),
        dee: ("settled_otherwise", "decide_again", None),
    }
    # To repeat it cannot succeed, and says why.
    for submission in (ann, cay, dee):
        assert recruiting.refused(f"/decisions/{submission}/repeat") == "pay_refused"
    # Whoever decides what was paid settles it; of cay they have seen at Prolific how much it was.
    for submission, body in ((ann, APPROVE), (cay, PART_30), (dee, REJECT)):
        number = row_of(recruiting.shown(), submission)["decision"]["number"]
        recruiting.ask("/decisions", submissions=[submission], instead_of=[number], **body)
    found = recruiting.refreshed()
    assert found["differences"] == []
    assert [row_of(found, one)["paid_share"] for one in (ann, bob, cay, dee)] == [100, 80, 30, None]
    assert platform.submission(cay).paid == 135


def test_a_payment_in_part_whose_answer_is_lost_is_of_the_share_that_was_decided(
    recruiting: Recruiting,
) -> None:
    recruiting.publish()
    submission = recruiting.finish("PID-ann")
    recruiting.refreshed()
    recruiting.prolific.faults.due.append(Fault("broken after", f"{submission}/transition"))
    assert recruiting.refused("/decisions", submissions=[submission], **PART_30) == "platform_unsure"
    number = row_of(recruiting.shown(), submission)["decision"]["number"]
    more = {"submissions": [submission], "instead_of": [number], **PART_80}
    assert recruiting.refused("/decisions", **more) == "pay_refused"
    found = recruiting.refreshed()
    assert (found["differences"], row_of(found, submission)["paid_share"]) == ([], 30)


@pytest.mark.databases("sqlite", in_soak=["postgresql"])
def test_a_payment_that_overtakes_the_one_that_replaces_it_is_shown(recruiting: Recruiting) -> None:
    """B decides 80 % in the place of A's 30 %, whose payment arrives between B's reading and B's payment."""
    recruiting.publish()
    platform = recruiting.prolific.platform
    submission = recruiting.finish("PID-ann")
    recruiting.refreshed()
    recruiting.prolific.faults.due.append(Fault("broken", f"{submission}/transition"))
    assert recruiting.refused("/decisions", submissions=[submission], **PART_30) == "platform_unsure"
    number = row_of(recruiting.shown(), submission)["decision"]["number"]
    study = platform.study(platform.submission(submission).study)
    actions = {one["actions"][0]["action"]: one["code"] for one in study.given["completion_codes"]}
    real = platform.move

    def overtaken(moved: str, asked: dict[str, Any]) -> Any:
        platform.move = real  # type: ignore[method-assign]
        part = {"percentage_of_reward": 30}
        code = actions["DYNAMIC_PAYMENT"]
        real(moved, {"action": "COMPLETE", "completion_code": code, "completion_code_data": part})
        return real(moved, asked)

    platform.move = overtaken  # type: ignore[method-assign]
    more = {"submissions": [submission], "instead_of": [number], **PART_80}
    assert recruiting.refused("/decisions", **more) == "platform_failed"
    assert platform.submission(submission).paid == 135
    # 30 or 80: no answer has said which was paid.
    (found,) = recruiting.refreshed()["differences"]
    assert (found["kind"], found["share"]) == ("settled_otherwise", None)


@pytest.mark.databases("sqlite", "postgresql")
def test_of_twenty_pairs_who_decide_at_once_one_counts_and_is_paid(recruiting: Recruiting) -> None:
    recruiting.publish(places=20)
    study = recruiting.shown()["study"]
    submissions = []
    for number in range(20):
        submissions.append(recruiting.prolific.platform.reserve(study, f"PID-{number}").id)
        recruiting.prolific.platform.complete(submissions[-1], CODE)
    recruiting.refreshed()

    async def all_pairs() -> list[str | None]:
        with (
            recruiting.another_process() as (store, platform),
            recruiting.another_process() as (other_store, other_platform),
        ):
            ann, bob = Pay(store, platform), Pay(other_store, other_platform)
            pairs = (
                (
                    refusal(ann.decide(recruiting.run, [one], "approve", Person("ann"))),
                    refusal(
                        bob.decide(recruiting.run, [one], "partial", Person("bob"), share=40, reason=SORRY)
                    ),
                )
                for one in submissions
            )
            return list(await asyncio.gather(*(call for pair in pairs for call in pair)))

    told = asyncio.run(all_pairs())
    assert sum(one is None for one in told) == 20
    query = "SELECT submission_id, decision FROM payment_decision ORDER BY id"
    made = dict(stored(recruiting.house, query))
    assert sorted(made) == sorted(submissions)
    expected = {"approve": 450, "partial": 180}  # 40 % of 450
    for submission, decision in made.items():
        assert recruiting.prolific.platform.submission(submission).paid == expected[decision]
    assert recruiting.refreshed()["differences"] == []
