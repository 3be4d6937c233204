"""Bonuses against the stand-in: in two steps, once, whatever happens between them."""

import asyncio
from typing import Any

import httpx2
import pytest

from server.db.engine import open_engine
from server.db.recruiting import bonuses
from server.errors import BonusRefused
from server.recruiters.stand_in.serving import Fault
from tests.server.support.database import execute
from tests.server.support.recruiting import Recruiting
from tests.server.support.server import stored
from tests.server.support.study import AT, seconds


@pytest.fixture
def submissions(recruiting: Recruiting) -> list[str]:
    """Two participants who have a place."""
    study = recruiting.publish()
    made = [recruiting.prolific.platform.reserve(study, name).id for name in ("PID-ann", "PID-bob")]
    recruiting.refreshed()
    return made


def paid(recruiting: Recruiting, submission: str) -> list[int]:
    return recruiting.prolific.platform.submission(submission).bonuses


def prepare(recruiting: Recruiting, submission: str, purpose: str = "thanks") -> str:
    made = recruiting.ask("/bonuses", purpose=purpose, cents={submission: 150})
    assert made["state"] == "prepared"
    return str(made["batch"])


def test_what_is_prepared_pays_nothing_and_is_paid_once(
    recruiting: Recruiting, submissions: list[str]
) -> None:
    ann, bob = submissions
    made = recruiting.ask("/bonuses", purpose="thanks", cents={ann: 150, bob: 5})
    assert made["total"] == 217  # 155, a third of it as fee (52), a fifth of that as tax (10)
    assert paid(recruiting, ann) == []
    assert recruiting.ask(f"/bonuses/{made['batch']}/pay")["state"] == "sent"
    assert (paid(recruiting, ann), paid(recruiting, bob)) == ([150], [5])
    (row,) = recruiting.refreshed()["batches"]
    assert (row["state"], [one["seen_paid"] for one in row["bonuses"]]) == ("paid", [True, True])
    # Pressed again, asked again: nothing more is paid.
    assert recruiting.refused(f"/bonuses/{made['batch']}/pay") == "bonus_refused"
    assert recruiting.refused("/bonuses", purpose="thanks", cents={ann: 150}) == "bonus_refused"
    assert recruiting.refused(f"/bonuses/{made['batch']}/look") == "bonus_refused"
    assert recruiting.refused(f"/bonuses/{made['batch']}", "DELETE") == "bonus_refused"
    assert paid(recruiting, ann) == [150]


def test_what_was_prepared_can_be_taken_back_and_prepared_otherwise(
    recruiting: Recruiting, submissions: list[str]
) -> None:
    batch = prepare(recruiting, submissions[0])
    recruiting.ask(f"/bonuses/{batch}", "DELETE")
    prepare(recruiting, submissions[0])


def test_a_payment_that_is_refused_leaves_it_prepared(recruiting: Recruiting, submissions: list[str]) -> None:
    batch = prepare(recruiting, submissions[0])
    recruiting.prolific.faults.due.append(Fault("busy", "/pay/", "100"))
    assert recruiting.refused(f"/bonuses/{batch}/pay") == "platform_failed"
    assert recruiting.shown()["batches"][0]["state"] == "prepared"
    assert recruiting.ask(f"/bonuses/{batch}/pay")["state"] == "sent"
    assert paid(recruiting, submissions[0]) == [150]


def test_a_payment_whose_answer_is_lost_is_found_and_not_made_again(
    recruiting: Recruiting, submissions: list[str]
) -> None:
    ann, bob = submissions
    batch, other = prepare(recruiting, ann), prepare(recruiting, bob)
    recruiting.prolific.faults.due.append(Fault("broken after", "/pay/"))
    assert recruiting.refused(f"/bonuses/{batch}/pay") == "platform_unsure"
    states = {row["batch"]: row["state"] for row in recruiting.shown()["batches"]}
    assert states[int(batch)] == "unknown"
    # Until somebody has looked, neither it nor another of the study is paid.
    assert recruiting.refused(f"/bonuses/{batch}/pay") == "bonus_refused"
    assert recruiting.refused(f"/bonuses/{other}/pay") == "bonus_refused"
    looked = recruiting.ask(f"/bonuses/{batch}/look")
    assert (looked["seen"], looked["batch"]["state"]) == ("paid", "paid")
    assert paid(recruiting, ann) == [150]
    assert recruiting.ask(f"/bonuses/{other}/pay")["state"] == "sent"


def test_a_payment_that_was_never_made_is_sent_again_only_after_an_hour(
    recruiting: Recruiting, submissions: list[str]
) -> None:
    batch = prepare(recruiting, submissions[0])
    recruiting.prolific.faults.due.append(Fault("broken", "/pay/"))
    assert recruiting.refused(f"/bonuses/{batch}/pay") == "platform_unsure"
    assert recruiting.ask(f"/bonuses/{batch}/look")["seen"] == "too_early"
    assert recruiting.refused(f"/bonuses/{batch}/pay") == "bonus_refused"
    execute(recruiting.house.url, "UPDATE bonus_batch SET sent_at = '2026-01-01 00:00:00.000000'")
    looked = recruiting.ask(f"/bonuses/{batch}/look")
    assert (looked["seen"], looked["batch"]["state"]) == ("not_paid", "prepared")
    assert recruiting.ask(f"/bonuses/{batch}/pay")["state"] == "sent"
    assert paid(recruiting, submissions[0]) == [150]


def test_who_looked_at_an_earlier_payment_says_nothing_of_the_one_under_way(
    recruiting: Recruiting, submissions: list[str]
) -> None:
    """Two look, and both see that nothing was paid; before the second has said so it is being paid again."""
    number, url = int(prepare(recruiting, submissions[0])), recruiting.house.url
    engine = open_engine(url)
    with engine.begin() as connection:
        bonuses.take(connection, number, AT)
    with engine.begin() as connection:
        assert bonuses.settle(connection, number, AT, "prepared", AT)
        bonuses.take(connection, number, AT + seconds(1))
    with engine.begin() as connection:
        assert not bonuses.settle(connection, number, AT, "prepared", AT)
        assert bonuses.settle(connection, number, AT + seconds(1), "paid", AT)
    engine.dispose()
    assert recruiting.refused(f"/bonuses/{number}/pay") == "bonus_refused"


def test_decisions_on_pay_are_never_changed(recruiting: Recruiting, submissions: list[str]) -> None:
    asked = {"decision": "request_return", "reason": "Please return it."}
    recruiting.ask("/decisions", submissions=submissions[:1], **asked)
    for change in ("UPDATE payment_decision SET reason = ''", "DELETE FROM payment_decision"):
        with pytest.raises(Exception, match="decisions on pay are only added to"):
            execute(recruiting.house.url, change)
    assert stored(recruiting.house, "SELECT count(*) FROM payment_decision") == [(1,)]


def state_of(recruitment: dict[str, Any], batch: str | int) -> str:
    (row,) = [row for row in recruitment["batches"] if row["batch"] == int(batch)]
    return str(row["state"])


def test_what_is_sent_is_not_paid_before_it_is_seen(recruiting: Recruiting, submissions: list[str]) -> None:
    ann, bob = submissions
    platform = recruiting.prolific.platform
    platform.pays_later = True
    batch = recruiting.ask("/bonuses", purpose="thanks", cents={ann: 150, bob: 5})["batch"]
    assert recruiting.ask(f"/bonuses/{batch}/pay")["state"] == "sent"
    found = recruiting.refreshed()
    assert state_of(found, batch) == "sent"
    assert [(row["bonus_sent"], row["bonus_paid"]) for row in found["submissions"]] == [(150, 0), (5, 0)]
    assert recruiting.ask(f"/bonuses/{batch}/look")["seen"] == "too_early"
    # An hour later nothing was paid: it is shown, and polling takes nothing back by itself.
    execute(recruiting.house.url, "UPDATE bonus_batch SET sent_at = '2026-01-01 00:00:00.000000'")
    (difference,) = recruiting.refreshed()["differences"]
    assert (difference["kind"], difference["remedy"], difference["batch"]) == (
        "bonus_not_paid",
        "look",
        batch,
    )
    # One of the two is paid, late: the other is still missing.
    platform.pay_waiting(but=[bob])
    found = recruiting.refreshed()
    assert [(row["bonus_sent"], row["bonus_paid"]) for row in found["submissions"]] == [(0, 150), (5, 0)]
    assert recruiting.ask(f"/bonuses/{batch}/look")["seen"] == "mixed"
    assert len(recruiting.refreshed()["differences"]) == 1
    platform.submissions[bob].bonuses.append(5)
    found = recruiting.refreshed()
    assert (state_of(found, batch), found["differences"]) == ("paid", [])


def test_another_amount_than_was_sent_is_no_payment(recruiting: Recruiting, submissions: list[str]) -> None:
    platform = recruiting.prolific.platform
    platform.pays_later = True
    batch = prepare(recruiting, submissions[0])
    recruiting.ask(f"/bonuses/{batch}/pay")
    platform.pay_waiting(cents=15)
    assert state_of(recruiting.refreshed(), batch) == "sent"
    execute(recruiting.house.url, "UPDATE bonus_batch SET sent_at = '2026-01-01 00:00:00.000000'")
    (difference,) = recruiting.refreshed()["differences"]
    assert difference["kind"] == "bonus_not_paid"


@pytest.mark.databases("sqlite", in_soak=["postgresql"])
def test_a_late_bonus_is_not_taken_for_another_of_the_same_amount(
    recruiting: Recruiting, submissions: list[str]
) -> None:
    """A is late; B of the same amount waits for it, is then answered 500, and was never paid."""
    ann, bob = submissions
    platform = recruiting.prolific.platform
    platform.pays_later = True
    first, second = prepare(recruiting, ann, "A"), prepare(recruiting, ann, "B")
    recruiting.ask(f"/bonuses/{first}/pay")
    assert recruiting.refused(f"/bonuses/{second}/pay") == "bonus_refused"
    # Another submission's bonus does not wait.
    assert recruiting.ask(f"/bonuses/{prepare(recruiting, bob, 'B')}/pay")["state"] == "sent"
    platform.pay_waiting()
    recruiting.prolific.faults.due.append(Fault("broken", "/pay/"))
    found = recruiting.refreshed()
    assert (state_of(found, first), state_of(found, second)) == ("paid", "prepared")
    assert recruiting.refused(f"/bonuses/{second}/pay") == "platform_unsure"
    assert recruiting.ask(f"/bonuses/{second}/look")["seen"] == "too_early"
    assert state_of(recruiting.refreshed(), second) == "unknown"
    assert paid(recruiting, ann) == [150]


def test_a_server_that_dies_before_the_call_has_sent_nothing(
    recruiting: Recruiting, submissions: list[str]
) -> None:
    number = int(prepare(recruiting, submissions[0]))
    engine = open_engine(recruiting.house.url)
    with engine.begin() as connection:
        bonuses.take(connection, number, AT)
    looked = recruiting.ask(f"/bonuses/{number}/look")
    assert (looked["seen"], looked["batch"]["state"]) == ("not_paid", "prepared")
    # Whoever was about to call finds that it is no longer theirs.
    with engine.begin() as connection, pytest.raises(BonusRefused, match="prepared again meanwhile"):
        bonuses.note_seen_before(connection, number, AT, {submissions[0]: 0})
    engine.dispose()
    recruiting.ask(f"/bonuses/{number}/pay")
    assert paid(recruiting, submissions[0]) == [150]


def test_amounts_are_whole_numbers_and_large_ones_are_asked_about(
    recruiting: Recruiting, submissions: list[str]
) -> None:
    ann, bob = submissions
    for cents in (True, "150", 150.0, 1.5, None):
        assert recruiting.refused("/bonuses", purpose="typo", cents={ann: cents}) == "invalid_request"
    for large in ({ann: 1_000_000}, {ann: 451}, {ann: 1, bob: 451}):  # the reward is 450
        assert recruiting.refused("/bonuses", purpose="Q0", cents=large) == "needs_confirmation"
    assert stored(recruiting.house, "SELECT count(*) FROM bonus") == [(0,)]
    for confirmed in ("true", 1):
        sent = {"purpose": "Q0", "cents": {ann: 451}, "confirmed": confirmed}
        assert recruiting.refused("/bonuses", **sent) == "invalid_request"
    recruiting.ask("/bonuses", purpose="Q0", cents={ann: 451}, confirmed=True)


@pytest.mark.parametrize("again", ["Q0", "q0", "q\u200b0", "\uff310", " Q\u00ad0 ", "Q\u20600\ufe0f"])
def test_a_purpose_that_looks_the_same_is_the_same(
    recruiting: Recruiting, submissions: list[str], again: str
) -> None:
    prepare(recruiting, submissions[0], "Q0")
    assert recruiting.refused("/bonuses", purpose=again, cents={submissions[0]: 150}) == "bonus_refused"
    prepare(recruiting, submissions[0], "Q1")
    prepare(recruiting, submissions[1], again)


def test_a_purpose_of_which_nothing_can_be_seen_is_refused(
    recruiting: Recruiting, submissions: list[str]
) -> None:
    cents = {submissions[0]: 150}
    assert recruiting.refused("/bonuses", purpose="\u200b\u3164", cents=cents) == "bonus_refused"


def at_once(recruiting: Recruiting, bodies: list[tuple[str, dict[str, Any] | None]]) -> list[int]:
    """Post all of it at once below the run's recruitment, and return the answers' statuses, sorted."""

    async def ask() -> list[int]:
        headers = {"Authorization": f"Bearer {recruiting.house.auth.researcher_token}"}
        start = f"http://127.0.0.1:{recruiting.house.port}/api/desk/runs/{recruiting.run}/recruitment"
        async with httpx2.AsyncClient(headers=headers, timeout=60) as client:
            calls = (client.post(f"{start}{path}", json=body) for path, body in bodies)
            return sorted(answer.status_code for answer in await asyncio.gather(*calls))

    return asyncio.run(ask())


@pytest.mark.databases("sqlite", "postgresql")
def test_bonuses_that_twenty_prepare_and_pay_at_once_are_paid_once(
    recruiting: Recruiting, submissions: list[str]
) -> None:
    """Twenty prepare the same bonus, and twenty pay it: each time one gets through."""
    ann, bob = submissions
    body = {"purpose": "thanks", "cents": {ann: 150, bob: 20}}
    assert at_once(recruiting, [("/bonuses", body)] * 20) == [201, *[409] * 19]
    (batch,) = recruiting.shown()["batches"]
    paying = [(f"/bonuses/{batch['batch']}/pay", None)] * 20
    assert at_once(recruiting, paying) == [200, *[409] * 19]
    assert (paid(recruiting, ann), paid(recruiting, bob)) == ([150], [20])
    assert state_of(recruiting.refreshed(), batch["batch"]) == "paid"


@pytest.mark.databases("sqlite", "postgresql")
def test_bonuses_that_are_prepared_at_once_do_not_exceed_the_budget_unasked(
    recruiting: Recruiting, submissions: list[str]
) -> None:
    """The budget has 22.50 left: two batches of 8.00 fit, and of twenty at once no third."""
    budget = {"total": "22.50", "pay": "4.50", "currency": "GBP"}
    rules = f"/runs/{recruiting.run}/rules"
    assert recruiting.house.desk(rules, method="PUT", json={"budget": budget}).is_success
    cents = dict.fromkeys(submissions, 400)
    bodies: list[tuple[str, dict[str, Any] | None]] = [
        ("/bonuses", {"purpose": f"part {number}", "cents": cents}) for number in range(20)
    ]
    assert at_once(recruiting, bodies) == [201, 201, *[409] * 18]
    assert stored(recruiting.house, "SELECT sum(cents) FROM bonus") == [(1_600,)]
