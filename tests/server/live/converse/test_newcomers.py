"""The way in: nothing is stored, and no place taken, of somebody who has not agreed."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from structlog.testing import capture_logs

from server.access.auth import Ticket
from server.bots.lineup import OpenRun
from server.clock import utc_now
from server.db.store import Store
from server.live.arrive.enrolment import ArrivingWorker, enrol
from server.recruiters.arrival import Arrival
from tests.server.support.database import execute, make_run
from tests.server.support.page import Page
from tests.server.support.server import House, stored
from tests.server.support.study import RUN, study_text

Serve = Callable[..., House]
EMPTY = [(0, 0)]
ROWS = "SELECT (SELECT count(*) FROM assignment), (SELECT count(*) FROM worker)"


def heard(page: Page) -> list[str]:
    return [message["type"] for message in page.heard]


@pytest.mark.databases("sqlite", in_soak=["postgresql"])
def test_many_who_only_open_the_link_take_no_place(url: str, serve: Serve) -> None:
    house = serve(url, make_run(url, study_text(assignments=1)))
    tokens = [house.token(f"squatter-{n}") for n in range(20)]
    for token in tokens[:5]:
        with house.open(token) as page:
            assert page.snapshot["phase"] == "instructions"
    assert stored(house, ROWS) == EMPTY
    with house.page("ann") as ann:
        ann.agree()
    assert stored(house, ROWS) == [(1, 1)]


def test_agreeing_is_told_as_ever(house: House) -> None:
    with house.page() as page:
        assert stored(house, ROWS) == EMPTY
        page.ask("agree")
        assert heard(page) == ["snapshot", "topic_due", "accepted"]
        assert len(page.frames) == 2
        page.converse()
    assert stored(house, "SELECT count(*) FROM assignment WHERE agreed_at IS NOT NULL") == [(1,)]


def test_the_assignment_has_the_id_that_joining_named(house: House) -> None:
    joined = house.join("ann").json()
    with house.open(joined["token"]) as page:
        page.agree()
    assert stored(house, "SELECT id FROM assignment") == [(joined["assignment"],)]


@pytest.mark.parametrize(
    ("type_", "fields"),
    [
        ("topic", {"text": "the sea", "opinion": "like"}),
        ("say", {"text": "Hello?"}),
        ("end_conversation", {}),
        ("feedback", {"text": ""}),
        ("hello", {"token": "t"}),
    ],
)
def test_nothing_else_is_taken_before(house: House, type_: str, fields: dict[str, Any]) -> None:
    with house.page() as page:
        error = page.ask(type_, **fields)
        assert (error["code"], error["retry"]) == ("wrong_phase", False)
        assert f"Expected `agree` or `leave` (instructions phase), got `{type_}`" in error["message"]
        page.agree()


def test_whoever_leaves_before_leaves_no_trace_and_may_come_back(house: House) -> None:
    with house.page("ann") as page:
        assert page.ask("leave")["type"] == "accepted"
        assert heard(page) == ["snapshot", "ended", "accepted"]
        assert page.ask("leave")["type"] == "accepted"
        assert page.ask("agree")["code"] == "wrong_phase"
    assert stored(house, ROWS) == EMPTY
    with house.page("ann") as page:
        page.agree()


def test_an_agreement_that_was_never_acknowledged_is_sent_again(house: House) -> None:
    token = house.token("ann")
    with house.open(token) as page:
        page.ask("agree", "mine")
    with house.open(token) as page:
        assert page.snapshot["phase"] == "topic"
        assert page.ask("agree", "mine")["type"] == "accepted"
    assert stored(house, ROWS) == [(1, 1)]


@pytest.mark.databases("sqlite", "postgresql")
def test_two_tabs_that_agree_are_one_assignment_and_the_later_one_has_it(house: House) -> None:
    token = house.token("ann")
    with house.open(token) as first, house.open(token) as second:
        first.agree()
        assert second.ask("agree")["type"] == "accepted"
        # Where it is now: the agreement itself was made on the first.
        assert [m["phase"] for m in second.heard if m["type"] == "snapshot"] == ["instructions", "topic"]
        assert [m["type"] for m in first.closed() if m["type"] != "accepted"] == ["taken_over"]
        second.converse()
    assert stored(house, ROWS) == [(1, 1)]


def test_two_tabs_that_agree_in_one_moment_are_one_assignment(house: House) -> None:
    token = house.token("ann")
    with house.open(token) as first, house.open(token) as second:
        for page in (first, second):
            page.send("agree")
        assert "accepted" in {settled(first), settled(second)}
    assert stored(house, ROWS) == [(1, 1)]
    with house.open(token) as page:
        assert page.snapshot["phase"] == "topic"


def settled(page: Page) -> str:
    """Return which came first: the answer to what the page has sent, or that it has lost the session."""
    while (message := page.receive())["type"] not in {"accepted", "taken_over"}:
        assert message["type"] != "error", message
    return str(message["type"])


def test_the_same_worker_on_another_device_comes_to_the_one_assignment(house: House) -> None:
    desktop, phone = house.token("ann"), house.token("ann")
    with house.open(desktop) as page:
        page.agree()
    with house.open(phone) as page:  # which has a ticket of its own
        assert page.snapshot["phase"] == "topic"
    assert house.join("ann").json()["assignment"] == stored(house, "SELECT id FROM assignment")[0][0]


@pytest.mark.parametrize("between", ["full", "closed"])
def test_an_agreement_that_comes_too_late(url: str, serve: Serve, between: str) -> None:
    house = serve(url, make_run(url, study_text(assignments=1)))
    with house.page("late") as late:
        if between == "full":
            house.enrolled("ann")
        else:
            execute(url, "UPDATE run SET status = 'closed'")
        error = late.ask("agree")
        assert (error["code"], error["retry"]) == (f"run_{between}", False)
    assert stored(house, "SELECT count(*) FROM worker WHERE external_id = ?", house.kept("late")) == [(0,)]
    assert house.join("late").json()["error"]["code"] == f"run_{between}"


def test_a_run_that_is_not_served_any_more(url: str, serve: Serve) -> None:
    house = serve(url, make_run(url, slug="one"), make_run(url, slug="two"))
    token = house.token("ann")
    house.stop()
    del house.runs[0]
    house.start()
    with house.socket() as page:
        page.send("hello", token=token)
        (error,) = page.closed()
    assert error["code"] == "run_not_ready"


def test_a_restart_between_the_ticket_and_the_agreement(house: House) -> None:
    token = house.token("ann")
    house.stop()
    house.start()
    with house.open(token) as page:
        assert page.snapshot["phase"] == "instructions"
        page.agree()


def test_a_crash_between_the_enrolment_and_the_agreement(url: str, run: OpenRun, serve: Serve) -> None:
    house = serve(url, run)
    joined = house.join("ann").json()
    ticket = house.auth.opened_by(joined["token"])
    assert isinstance(ticket, Ticket)
    house.stop()
    asyncio.run(_enrol_only(url, run, ticket, house.auth.kept(ticket.arrival)))
    assert stored(house, "SELECT id, agreed_at FROM assignment") == [(joined["assignment"], None)]
    house.start()
    with house.open(joined["token"]) as page:
        assert page.snapshot["phase"] == "instructions"
        page.agree()
        page.converse()
    assert stored(house, ROWS) == [(1, 1)]


async def _enrol_only(url: str, run: OpenRun, ticket: Ticket, arrival: Arrival) -> None:
    store = Store(url)
    store.start()
    worker = ArrivingWorker(arrival, "W", ticket.simulated, ticket.reply_pace, ticket.assignment)
    await store.submit(lambda connection: enrol(connection, run, worker, utc_now()))
    store.stop()


def test_a_ticket_that_has_expired_opens_nothing_and_costs_nobody_anything(house: House) -> None:
    """Nothing was stored: who comes back is somebody new, by the same name."""
    token = house.join().json()["token"]
    house.stop()
    house.auth = replace(house.auth, token_seconds=-1)
    house.start()
    with house.socket() as page:
        page.send("hello", token=token)
        (error,) = page.closed()
    assert error["code"] == "token_expired"
    again = house.join(token=token)
    assert again.status_code == 200
    house.stop()
    house.auth = replace(house.auth, token_seconds=3_600)
    house.start()
    with house.open(again.json()["token"]) as page:
        page.agree()


def test_a_ticket_is_for_its_own_run(url: str, serve: Serve) -> None:
    house = serve(url, make_run(url, slug="one"), make_run(url, slug="two"))
    ticket = house.join(run="one").json()
    other = house.join(run="two", token=ticket["token"]).json()
    assert other["assignment"] != ticket["assignment"]
    with house.open(ticket["token"]) as page:
        page.agree()
    assert stored(house, "SELECT slug FROM run JOIN assignment ON run.id = run_id") == [("one",)]


@pytest.mark.parametrize("name", ["日" * 200, "🦉" * 200, '"\\' * 100, "a&b=c d/é?#" * 18])
def test_a_long_name_in_any_script(house: House, name: str) -> None:
    with house.page(name) as page:
        page.agree()
    assert stored(house, "SELECT external_id FROM worker") == [(house.kept(name),)]
    with house.page(name) as page:
        assert page.snapshot["phase"] == "topic"


@pytest.mark.databases("sqlite", in_soak=["postgresql"])
def test_opening_the_page_is_not_counted_and_taking_a_place_is(url: str, run: OpenRun, serve: Serve) -> None:
    house = serve(url, run, joins_per_address="2/hour")
    tokens = [house.token(f"w{n}") for n in range(6)]
    for token in tokens[:2]:
        with house.open(token) as page:
            page.agree()
    with house.open(tokens[2]) as page:
        error = page.ask("agree")
        assert (error["code"], error["retry"]) == ("rate_limited", True)
    assert stored(house, ROWS) == [(2, 2)]
    with house.open(tokens[0]) as page:  # who is in has taken their place before
        assert page.snapshot["phase"] == "topic"


def test_a_class_behind_one_address_takes_its_places_at_once(url: str, serve: Serve) -> None:
    house = serve(url, make_run(url, study_text(assignments=40)))
    for token in [house.token(f"pupil-{n}") for n in range(40)]:
        with house.open(token) as page:
            page.agree()
    assert stored(house, ROWS) == [(40, 40)]


def test_who_has_a_place_is_not_refused_for_those_that_others_took_from_the_address(
    url: str, run: OpenRun, serve: Serve
) -> None:
    house = serve(url, run, joins_per_address="2/hour")
    token = house.token("ann")
    with house.open(token) as first, house.open(token) as second, house.page("bob") as bob:
        first.agree()
        bob.agree()
        assert second.ask("agree")["type"] == "accepted"
    assert stored(house, ROWS) == [(2, 2)]


def test_attempts_from_one_address_have_a_limit_of_their_own(url: str, run: OpenRun, serve: Serve) -> None:
    house = serve(url, run, attempts_per_address="4/hour")
    answers = [house.join("ann"), house.join("ann"), house.join("bob", run="nowhere"), house.join()]
    assert [answer.status_code for answer in answers] == [200, 200, 404, 200]
    refused = house.join("ann")
    assert (refused.status_code, refused.json()["error"]["code"]) == (429, "rate_limited")


# ---- refusals without end --------------------------------------------------------------------


@pytest.mark.parametrize("agreed", [False, True], ids=["a newcomer", "a worker"])
def test_a_page_that_floods_is_hung_up_on_with_one_line_in_the_log(
    url: str, run: OpenRun, serve: Serve, agreed: bool
) -> None:
    house = serve(url, run, messages_per_session="5/hour")
    with capture_logs() as logs, house.page() as page:
        if agreed:
            page.agree()
        for number in range(50):  # one more could come when nobody reads any more
            page.send("say", f"f{number}", text="a secret word")
        answers = page.closed()
        assert page.connection.close_code == 1008
    codes = [answer["code"] for answer in answers if answer["type"] == "error"]
    assert codes[-1] == "rate_limited"
    assert len(codes) == 50
    lines = [line for line in logs if line["log_level"] == "warning"]
    assert [line["event"] for line in lines] == ["page closed after too many refused messages"]
    assert "secret" not in str(logs)


def test_what_is_the_databases_fault_is_not_held_against_a_page(url: str, run: OpenRun, serve: Serve) -> None:
    house = serve(url, run, messages_per_session="1000/second")
    with house.page() as page:
        page.agree()
        execute(url, "ALTER TABLE topic_mark RENAME TO hidden")
        answers = [page.ask("topic", "mine", text="the sea", opinion="like") for _ in range(60)]
        assert {answer["code"] for answer in answers} == {"storage_failed"}
        execute(url, "ALTER TABLE hidden RENAME TO topic_mark")
        page.open_topic()


CONSENT = {
    "version": "1.2",
    "text": "We store what you write.",
    "boxes": [
        {"label": "data", "text": "You may."},
        {"label": "publish", "text": "That, too.", "required": False},
    ],
}


@pytest.mark.databases("sqlite", in_soak=["postgresql"])
def test_a_consent_that_is_not_ticked_takes_no_place_and_one_that_is_is_stored(
    url: str, serve: Serve
) -> None:
    house = serve(url, make_run(url, study_text(texts={"consent": CONSENT})))
    with house.page("ann") as page:
        assert page.snapshot["study"]["consent"]["boxes"][0]["label"] == "data"
        page.ask("agree")
        assert page.heard[-1]["code"] == "consent_missing"
        assert stored(house, ROWS) == EMPTY
        page.ask("agree", consent="1.2", ticked=["data"])
        assert heard(page)[-1] == "accepted"
    assert stored(house, "SELECT consent_version, consent_ticked FROM v1_assignment") == [("1.2", "data")]


def test_a_browser_that_took_part_gets_no_other_assignment_unless_by_a_personal_link(
    url: str, serve: Serve
) -> None:
    house = serve(url, make_run(url))
    first = house.join("ann").json()["token"]
    assert house.join("bob", earlier=first).status_code == 200  # who has only looked may come as another
    with house.open(first) as page:
        page.agree()
    for worker in ("bob", None):
        refused = house.join(worker, earlier=first)
        assert (refused.status_code, refused.json()["error"]["code"]) == (409, "already_took_part")
    assert house.join("ann", earlier=first).status_code == 200
    assert house.join("bob", earlier="made.up.token").status_code == 200
    signature = house.auth.link_signature(RUN, "bob")
    assert house.join("bob", earlier=first, signature=signature).status_code == 200


def test_two_tickets_of_one_browser_lead_to_one_assignment(house: House) -> None:
    """Two tabs, under two names, both before either has agreed: whoever agrees first takes part."""
    ann = house.join("ann").json()["token"]
    bob = house.join("bob", earlier=ann).json()["token"]
    with house.open(ann) as first, house.open(bob) as second:
        assert second.snapshot["phase"] == "instructions"
        second.agree()
        assert first.ask("agree")["code"] == "already_took_part"
    assert stored(house, "SELECT count(*) FROM assignment") == [(1,)]
    with house.open(bob) as page:
        assert page.snapshot["phase"] == "topic"
    assert house.join("ann", token=ann, earlier=bob).status_code == 409
    signature = house.auth.link_signature(
        RUN, "cay"
    )  # somebody else at the same browser, with a link of theirs
    with house.open(house.join("cay", earlier=ann, signature=signature).json()["token"]) as page:
        page.agree()


def test_a_refusal_speaks_the_studys_language(url: str, serve: Serve) -> None:
    house = serve(url, make_run(url, study_text(language="de")))
    house.desk(f"/runs/{RUN}/pause", method="POST")
    refused = house.join("ann").json()
    assert refused["error"]["code"] == "run_paused"
    assert refused["words"]["language"] == "de"
    assert refused["again_at"] is None
    house.desk(f"/runs/{RUN}/resume", method="POST")
    token = house.join("ann").json()["token"]
    tomorrow = (utc_now() + timedelta(days=1)).strftime("%a").lower()
    hours = {"time_zone": "UTC", "hours": [{"days": [tomorrow], "opens": "09:00", "closes": "09:01"}]}
    house.desk(f"/runs/{RUN}/rules", method="PUT", json={"opening_hours": hours})
    out = house.join("bob").json()
    assert (out["error"]["code"], out["words"]["language"]) == ("run_out_of_hours", "de")
    with house.open(token) as page:
        page.ask("agree")
        assert page.heard[-1]["code"] == "run_out_of_hours"
        times = {page.heard[-1]["again_at"], out["again_at"]}
    begins = (utc_now() + timedelta(days=1)).replace(hour=9, minute=0, second=0, microsecond=0)
    assert {datetime.fromisoformat(time) for time in times} == {begins}


def test_who_leaves_after_agreeing_is_debriefed(url: str, serve: Serve) -> None:
    house = serve(url, make_run(url, study_text(texts={"debriefing": "One of them was bad on purpose."})))
    with house.page("ann") as page:  # who has only looked took no part
        page.send("leave")
        assert page.until("ended")["debriefing"] is None
    token = house.enrolled("bob")
    with house.open(token) as page:
        assert page.snapshot["debriefing"] is None
        page.send("leave")
        assert page.until("ended")["debriefing"] == "One of them was bad on purpose."
    with house.open(token) as page:
        assert page.snapshot["debriefing"] == "One of them was bad on purpose."
    with house.open(house.token("cay")) as page:
        page.agree()
        released = stored(house, "SELECT id FROM assignment WHERE status = 'active'")[0][0]
        house.desk(f"/assignments/{released}/release", method="POST")
        assert page.until("ended")["debriefing"] == "One of them was bad on purpose."
