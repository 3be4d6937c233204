"""Bonuses against the stand-in: in two steps, once, whatever happens between them."""

import pytest

from server.db import bonuses
from server.db.engine import open_engine
from server.recruiters.stand_in.faults import Fault
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
    assert recruiting.ask(f"/bonuses/{made['batch']}/pay")["state"] == "paid"
    assert (paid(recruiting, ann), paid(recruiting, bob)) == ([150], [5])
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
    assert recruiting.ask(f"/bonuses/{batch}/pay")["state"] == "paid"
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
    assert recruiting.ask(f"/bonuses/{other}/pay")["state"] == "paid"


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
    assert recruiting.ask(f"/bonuses/{batch}/pay")["state"] == "paid"
    assert paid(recruiting, submissions[0]) == [150]


def test_who_looked_at_an_earlier_payment_says_nothing_of_the_one_under_way(
    recruiting: Recruiting, submissions: list[str]
) -> None:
    """Two look, and both see that nothing was paid; before the second has said so it is being paid again."""
    number, url = int(prepare(recruiting, submissions[0])), recruiting.house.url
    engine = open_engine(url)
    with engine.begin() as connection:
        bonuses.take(connection, number, {}, AT)
    with engine.begin() as connection:
        assert bonuses.settle(connection, number, AT, "prepared", AT)
        bonuses.take(connection, number, {}, AT + seconds(1))
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
