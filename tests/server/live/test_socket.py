"""The worker's WebSocket on a real server: the whole way, refreshes, second tabs, bad input, restarts."""

import asyncio
import base64
import itertools
import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from fastapi import WebSocket
from limits import parse
from websockets.exceptions import ConnectionClosed

from bots import Bot, BotError
from server.access.auth import Auth
from server.access.rate_limit import RateLimits
from server.bots.lineup import OpenRun
from server.db.store import Store
from server.live.enrolment import ArrivingWorker, enrol
from server.live.sessions import LiveSessions
from server.live.socket import WorkerSocket
from server.recruiters.link import Arrival
from server.session.protocol import (
    CLOSE_OUTDATED,
    MAX_FEEDBACK,
    MAX_FRAME_BYTES,
    MAX_SAY,
    MAX_TOPIC,
    PROTOCOL_VERSION,
)
from tests.server.support.bots import BROKEN, Gated, Raises, Says
from tests.server.support.database import make_run, query
from tests.server.support.page import Page
from tests.server.support.server import House
from tests.server.support.study import AT, PERSONAS, RATINGS, RUN, SYSTEMS, study_text
from tests.support.waiting import PATIENCE, wait_until

Serve = Callable[..., House]


def stored(house: House, sql: str, *values: object) -> list[tuple[Any, ...]]:
    return query(house.url, sql, *values)


# ---- the whole way ---------------------------------------------------------------------------


def test_a_whole_assignment(house: House) -> None:
    with house.page() as page:
        assert (page.snapshot["type"], page.snapshot["phase"]) == ("snapshot", "instructions")
        completed = page.whole()
    assert stored(house, "SELECT status, feedback FROM assignment") == [("completed", "Thank you.")]
    assert stored(house, "SELECT status, count(*) FROM conversation GROUP BY status") == [("rated", 4)]
    assert stored(house, "SELECT author, count(*) FROM turn GROUP BY author") == [("bot", 8), ("worker", 8)]
    ratings = stored(house, "SELECT DISTINCT criterion, value FROM rating ORDER BY criterion")
    assert ratings == sorted(RATINGS.items())
    assert stored(house, "SELECT count(*) FROM topic_mark WHERE round = 0 AND ordinal = 0") == [(4,)]
    with house.page() as page:  # the same worker comes back
        assert page.snapshot["phase"] == "done"
        assert page.snapshot["code"] == completed["code"]


def test_messages_are_numbered_from_one_on_each_connection(house: House) -> None:
    for _ in range(2):
        with house.page() as page:
            page.ask("agree", "once")
            numbers = [json.loads(frame)["seq"] for frame in page.heard]
            assert numbers == list(range(1, len(numbers) + 1))


def test_what_a_message_leads_to_comes_before_its_acceptance(house: House) -> None:
    with house.page() as page:
        page.ask("agree")
        page.ask("topic", text="the sea", opinion="like")
        types = [json.loads(frame)["type"] for frame in page.heard]
    assert types == ["snapshot", "topic_due", "accepted", "conversation_started", "accepted"]


def test_an_icebreaker_study(url: str, serve: Serve) -> None:
    house = serve(url, make_run(url, study_text(topic_mode="icebreaker")))
    sentences = {sentence for persona in PERSONAS for sentence in persona}
    with house.page() as page:
        due = page.agree()
        assert due["icebreaker"] in sentences
        assert page.ask("topic", text="mine", opinion="like")["code"] == "topic_fixed"
        assert page.open_topic(None)["topic"] == due["icebreaker"]
        assert stored(house, "SELECT topic, how, bot_opinion FROM topic_mark") == [
            (due["icebreaker"], None, None)
        ]


def test_leaving_gives_the_place_to_the_next_worker(house: House) -> None:
    with house.page("ann") as ann:
        ann.send("leave")
        assert ann.until("ended")["phase"] == "returned"
        assert ann.ask("agree")["code"] == "wrong_phase"
    with house.page("bob") as bob:
        bob.agree()
    assert stored(house, "SELECT place, status FROM assignment ORDER BY created_at, status DESC") == [
        (0, "returned"),
        (0, "active"),
    ]


def test_a_worker_who_lost_the_place_is_told(url: str, serve: Serve) -> None:
    house = serve(url, make_run(url, study_text(timeouts={"idle": 0.05})))
    with house.page("slow") as slow:
        slow.agree()
        wait_until(lambda: _displaced(house), "the time-out")
        assert slow.until("ended")["phase"] == "expired"
    with house.page("slow") as again:
        assert again.snapshot["phase"] == "expired"


def _displaced(house: House) -> bool:
    """Let somebody new arrive; tell whether they were given the first place."""
    assert house.join().status_code == 200
    return stored(house, "SELECT count(*) FROM assignment WHERE status = 'expired'") != [(0,)]


# ---- refresh and second tab ------------------------------------------------------------------


def test_a_refresh_comes_back_to_the_chat_with_every_word(house: House) -> None:
    with house.page() as page:
        page.agree()
        page.open_topic()
        page.say("first")
        page.ask("topic_change", how="bot change", topic="ships", opinion="like", bot_opinion="dislike")
    with house.page() as page:
        assert page.snapshot["phase"] == "chat"
        assert page.snapshot["conversation"] == {
            "conversation": 1,
            "attempt": 1,
            "icebreaker": None,
            "topic": "ships",
            "turns": [
                {"turn": 0, "author": "worker", "text": "first"},
                {"turn": 1, "author": "bot", "text": "Reply 0 to: first"},
            ],
            "inputs": 1,
            "typing": False,
        }
        page.say("second")
        page.send("end_conversation")
        page.until("rating_due")
    with house.page() as page:
        assert page.snapshot["phase"] == "rating"
        page.rate()
    with house.page() as page:
        assert page.snapshot["phase"] == "topic"
        assert page.snapshot["conversation"]["conversation"] == 2


def test_an_input_that_was_never_acknowledged_is_sent_again_and_stored_once(house: House) -> None:
    token = house.token("ann")
    with house.open(token) as page:
        page.agree()
        page.open_topic()
    # The line goes out and the network is lost at once: nobody knows whether it arrived.
    with house.open(token) as lost:
        lost.send("say", "mine", text="only once")
    with house.open(token) as page:
        for _ in range(3):
            assert page.ask("say", "mine", turn=0, text="only once")["type"] == "accepted"
    texts = [text for (text,) in stored(house, "SELECT text FROM turn WHERE author = 'worker'")]
    assert texts == ["only once"]


def test_a_reply_that_came_while_nobody_was_there_is_in_the_snapshot(url: str, serve: Serve) -> None:
    bot = Gated()
    house = serve(url, make_run(url, bots=bot))
    with house.page() as page:
        page.agree()
        page.open_topic()
        page.ask("say", text="Are you there?")
    bot.gate.set()
    wait_until(lambda: stored(house, "SELECT count(*) FROM turn") == [(2,)], "the reply")
    with house.page() as page:
        turns = page.snapshot["conversation"]["turns"]
        assert [turn["text"] for turn in turns] == ["Are you there?", "Reply 0 to: Are you there?"]


def test_a_reply_is_neither_told_nor_in_a_snapshot_before_its_time(url: str, serve: Serve) -> None:
    never = {"median": 60, "spread": 0, "longest": 60}  # within this test
    house = serve(url, make_run(url, study_text(reply_time=never)))
    with house.page() as page:
        page.agree()
        page.open_topic()
        page.ask("say", text="Are you there?")
        wait_until(lambda: stored(house, "SELECT count(*) FROM turn") == [(2,)], "the reply")
        error = page.ask("say", text="Hello?")
        assert (error["code"], error["retry"]) == ("reply_pending", True)
        assert not any("Reply 0" in frame for frame in page.heard)
    with house.page() as page:
        assert page.snapshot["conversation"]["typing"]
        assert len(page.snapshot["conversation"]["turns"]) == 1


def test_a_second_tab_takes_over(house: House) -> None:
    token = house.token("ann")
    with house.open(token) as first:
        first.agree()
        with house.open(token) as second:
            assert second.snapshot["phase"] == "topic"
            assert [m["type"] for m in first.closed() if m["type"] != "accepted"] == ["taken_over"]
            second.open_topic()
            with house.open(token) as third:
                assert third.snapshot["phase"] == "chat"
                assert second.closed()[-1]["type"] == "taken_over"


# ---- bad input: frames -----------------------------------------------------------------------

SAY_WHAT = '{"type": "say", "id": "x1", "conversation": 1, "attempt": 1, "turn": 0, "text": %s}'
SAY = SAY_WHAT % '"%s"'

BAD_FRAMES = {
    "no JSON": ("hello", "malformed_json", "not JSON"),
    "half of it": ('{"type": "say", "id": "x', "malformed_json", "not JSON"),
    "nothing": ("", "malformed_json", "not JSON"),
    "bytes": (b"\xff\xfe\x00\x9f\x92", "malformed_json", "not JSON"),
    "deep": ("[" * 20_000, "malformed_json", "not JSON"),
    "a broken surrogate": (SAY % "\\ud800", "malformed_json", "not JSON"),
    "a list": ("[1, 2]", "invalid_field", "object"),
    "a number": ("7", "invalid_field", "object"),
    "null": ("null", "invalid_field", "object"),
    "no type": ('{"id": "x1"}', "unknown_message", "'type'"),
    "an unknown type": ('{"type": "shout", "id": "x1"}', "unknown_message", "'shout'"),
    "a type that is no text": ('{"type": 5, "id": "x1"}', "unknown_message", "'5'"),
    "a missing field": (
        '{"type": "say", "id": "x1", "conversation": 1, "attempt": 1, "turn": 0}',
        "invalid_field",
        "text: Field required",
    ),
    "a missing id": ('{"type": "agree"}', "invalid_field", "id: Field required"),
    "an unknown field": ('{"type": "agree", "id": "x1", "extra": 1}', "invalid_field", "extra: "),
    "a number for a text": (
        '{"type": "say", "id": "x1", "conversation": 1, "attempt": 1, "turn": 0, "text": 5}',
        "invalid_field",
        "text: ",
    ),
    "a list for a text": (
        '{"type": "say", "id": "x1", "conversation": 1, "attempt": 1, "turn": 0, "text": ["a"]}',
        "invalid_field",
        "text: ",
    ),
    "null for a text": (
        '{"type": "say", "id": "x1", "conversation": 1, "attempt": 1, "turn": 0, "text": null}',
        "invalid_field",
        "text: ",
    ),
    "an unknown opinion": (
        '{"type": "topic", "id": "x1", "conversation": 1, "attempt": 1, "text": "a", "opinion": "meh"}',
        "invalid_field",
        "opinion: Input should be 'like', 'ambivalent' or 'dislike'",
    ),
    "an empty line": (SAY % "", "invalid_field", "text: "),
    "a line of spaces": (SAY % "  \\n ", "invalid_field", "text: "),
    "only control characters": (SAY % "\\u0000\\u0007", "invalid_field", "nothing is left"),
    "a line too long": (
        SAY % ("x" * (MAX_SAY + 1)),
        "too_long",
        f"text: String should have at most {MAX_SAY} char",
    ),
    "feedback too long": (
        json.dumps({"type": "feedback", "id": "x1", "text": "x" * (MAX_FEEDBACK + 1)}),
        "too_long",
        f"text: String should have at most {MAX_FEEDBACK} char",
    ),
    "a topic too long": (
        json.dumps(
            {
                "type": "topic",
                "id": "x1",
                "conversation": 1,
                "attempt": 1,
                "opinion": "like",
                "text": "x" * (MAX_TOPIC + 1),
            }
        ),
        "too_long",
        f"text: String should have at most {MAX_TOPIC} char",
    ),
    "an id too long": (json.dumps({"type": "agree", "id": "x" * 65}), "too_long", "id: "),
    "an id of other characters": ('{"type": "agree", "id": "a b"}', "invalid_field", "id: "),
    "an id with a line feed": ('{"type": "agree", "id": "ab\\n"}', "invalid_field", "id: "),
    "an empty id": ('{"type": "agree", "id": ""}', "invalid_field", "id: "),
    "an id that is a broken surrogate": ('{"type": "agree", "id": "\\ud800"}', "malformed_json", "not JSON"),
    "an id that is a number": ('{"type": "agree", "id": 5}', "invalid_field", "id: "),
    "a frame just too large": (
        SAY % ("x" * (MAX_FRAME_BYTES + 1 - len(SAY % ""))),
        "too_long",
        f"at most {MAX_FRAME_BYTES} bytes",
    ),
    "a frame far too large": (SAY % ("x" * 900_000), "too_long", f"at most {MAX_FRAME_BYTES} bytes"),
    "no conversation": (
        '{"type": "end_conversation", "id": "x1", "attempt": 1}',
        "invalid_field",
        "conversation: Field required",
    ),
    "no attempt": (
        '{"type": "end_conversation", "id": "x1", "conversation": 1}',
        "invalid_field",
        "attempt: Field required",
    ),
    "a conversation that is no number": (
        '{"type": "end_conversation", "id": "x1", "conversation": "1", "attempt": 1}',
        "invalid_field",
        "conversation: ",
    ),
    "conversation zero": (
        '{"type": "end_conversation", "id": "x1", "conversation": 0, "attempt": 1}',
        "invalid_field",
        "conversation: ",
    ),
    "attempt zero": (
        '{"type": "end_conversation", "id": "x1", "conversation": 1, "attempt": 0}',
        "invalid_field",
        "attempt: ",
    ),
    "a line before the first": (
        '{"type": "say", "id": "x1", "conversation": 1, "attempt": 1, "turn": -1, "text": "a"}',
        "invalid_field",
        "turn: ",
    ),
    "another conversation": (
        '{"type": "end_conversation", "id": "x1", "conversation": 2, "attempt": 1}',
        "wrong_phase",
        "expected conversation 1, attempt 1, got conversation 2, attempt 1",
    ),
    "another attempt": (
        '{"type": "end_conversation", "id": "x1", "conversation": 1, "attempt": 2}',
        "wrong_phase",
        "expected conversation 1, attempt 1, got conversation 1, attempt 2",
    ),
    "another line": (
        '{"type": "say", "id": "x1", "conversation": 1, "attempt": 1, "turn": 2, "text": "a"}',
        "wrong_phase",
        "expected line 0, got line 2",
    ),
    "hello again": ('{"type": "hello", "id": "x1", "token": "t"}', "wrong_phase", "got `hello`"),
    "the wrong phase": (
        '{"type": "feedback", "id": "x1", "text": ""}',
        "wrong_phase",
        "expected `say` or `topic_change` or `end_conversation` or `leave` (chat phase), got `feedback`",
    ),
    "too few inputs": (
        '{"type": "end_conversation", "id": "x1", "conversation": 1, "attempt": 1}',
        "too_few_inputs",
        "2 more inputs needed",
    ),
}


@pytest.mark.parametrize("kind", BAD_FRAMES)
def test_a_bad_frame_has_its_own_error_and_the_session_goes_on(
    shared: House, someone: str, kind: str
) -> None:
    frame, code, reason = BAD_FRAMES[kind]
    with shared.page(someone) as page:
        page.agree()
        page.open_topic()
        error = page.refused(frame)
        assert error["code"] == code
        assert reason in error["message"]
        assert not error["retry"]
        assert len(error["message"]) < 600
        assert page.say("still here")["text"] == "Reply 0 to: still here"
    with shared.page(someone) as page:
        assert len(page.snapshot["conversation"]["turns"]) == 2


def test_an_error_names_the_message_it_is_about(shared: House, someone: str) -> None:
    with shared.page(someone) as page:
        assert page.refused('{"type": "say", "id": "mine"}')["id"] == "mine"
        assert (
            page.refused(
                '{"type": "say", "id": "mine", "conversation": 1, "attempt": 1, "turn": 0, "text": "%s"}'
                % ("x" * 900_000)
            )["id"]
            == "mine"
        )
        assert page.refused("nonsense")["id"] is None
        assert page.refused('{"type": "say", "id": 5}')["id"] is None


@pytest.mark.parametrize(
    ("ratings", "code", "reason"),
    [
        ({**RATINGS, "fun": 101}, "invalid_field", "ratings.fun: "),
        ({**RATINGS, "fun": -1}, "invalid_field", "ratings.fun: "),
        ({**RATINGS, "fun": 50.0}, "invalid_field", "ratings.fun: "),
        ({**RATINGS, "fun": 49.5}, "invalid_field", "ratings.fun: "),
        ({**RATINGS, "fun": True}, "invalid_field", "ratings.fun: "),
        ({**RATINGS, "fun": "50"}, "invalid_field", "ratings.fun: "),
        ({**RATINGS, "fun": None}, "invalid_field", "ratings.fun: "),
        ({**RATINGS, "fun": float("nan")}, "invalid_field", "ratings.fun: "),
        ({**RATINGS, "fun": float("inf")}, "invalid_field", "ratings.fun: "),
        ({**RATINGS, "fun": 10**30}, "invalid_field", "ratings.fun: "),
        ([50, 50, 50], "invalid_field", "ratings: "),
        ({}, "incomplete_rating", "no rating for fluent, fun, robotic"),
        ({"robotic": 1, "fun": 2}, "incomplete_rating", "no rating for fluent"),
        ({**RATINGS, "charm": 3}, "incomplete_rating", "not in this study: charm"),
        ({f"c{n}": 1 for n in range(51)}, "invalid_field", "ratings: "),
    ],
)
def test_a_bad_rating_is_refused_and_can_be_corrected(
    shared: House, someone: str, ratings: Any, code: str, reason: str
) -> None:
    with shared.page(someone) as page:
        page.agree()
        page.converse()
        error = page.ask("rate", ratings=ratings)
        assert error["code"] == code
        assert reason in error["message"]
        assert ratings_of(shared, someone) == []
        page.rate()
    assert ratings_of(shared, someone) == sorted(RATINGS.items())


def ratings_of(house: House, worker: str) -> list[tuple[str, int]]:
    return stored(  # type: ignore[return-value]
        house,
        "SELECT criterion, value FROM rating JOIN conversation ON conversation.id = conversation_id "
        "JOIN assignment ON assignment.id = assignment_id JOIN worker ON worker.id = worker_id "
        "WHERE external_id = ? ORDER BY criterion",
        worker,
    )


def test_control_characters_are_taken_out_of_what_is_stored(house: House) -> None:
    with house.page() as page:
        page.agree()
        page.open_topic("the\x00 sea\x07")
        said = page.say(" a\x00b\x1b[31m\tc\n日本 🦉 ")
        assert said["text"] == "Reply 0 to: ab[31m\tc\n日本 🦉"
    assert stored(house, "SELECT topic FROM topic_mark") == [("the sea",)]
    assert stored(house, "SELECT text FROM turn WHERE author = 'worker'") == [("ab[31m\tc\n日本 🦉",)]


def test_the_longest_texts_are_taken(house: House) -> None:
    with house.page() as page:
        page.agree()
        page.open_topic("t" * MAX_TOPIC)
        for _ in range(2):
            page.say("\U0001f989" * MAX_SAY)  # sent as twelve bytes each
        page.send("end_conversation")
        page.until("rating_due")
    assert stored(house, "SELECT DISTINCT length(text) FROM turn WHERE author = 'worker'") == [(MAX_SAY,)]


def test_a_page_that_talks_nothing_but_nonsense_is_hung_up_on(url: str, run: OpenRun, serve: Serve) -> None:
    house = serve(url, run, exempt_addresses=["127.0.0.1"])
    with house.page() as page:
        for _ in range(50):
            page.raw("nonsense")
        assert [answer["code"] for answer in page.closed()] == ["malformed_json"] * 50
    with house.page() as page:
        page.agree()


@pytest.mark.parametrize(
    "frame",
    [
        json.dumps({"type": "x" * 30_000, "id": "x1"}),
        json.dumps(
            {
                "type": "rate",
                "id": "x1",
                "conversation": 1,
                "attempt": 1,
                "ratings": {"y" * 10_000: 1, "z" * 10_000: 1},
            }
        ),
    ],
)
def test_an_error_does_not_repeat_all_that_was_sent(shared: House, someone: str, frame: str) -> None:
    with shared.page(someone) as page:
        page.agree()
        page.converse()
        assert len(page.refused(frame)["message"]) < 600


async def test_a_page_that_does_not_read_is_cut_off(url: str, run: OpenRun) -> None:
    """Its answers pile up; once too many wait, the connection ends and the session is free."""
    store = Store(url)
    auth = Auth("secret", "token", 3600)
    live = LiveSessions(store, {run.id: run}, auth)
    adapter = WorkerSocket(
        live=live,
        auth=auth,
        limits=RateLimits({"here"}),
        per_session=parse("1/day"),
        per_address=parse("1/day"),
    )
    frames = itertools.count()

    async def receive() -> dict[str, Any]:
        await asyncio.sleep(0)
        number = next(frames)
        if number == 0:
            return {"type": "websocket.connect"}
        content = (
            {"type": "hello", "id": "h", "token": token, "protocol": PROTOCOL_VERSION}
            if number == 1
            else {"type": "agree", "id": "a"}
        )
        return {"type": "websocket.receive", "text": json.dumps(content)}

    async def send(message: Any) -> None:
        if message["type"] == "websocket.send":
            await asyncio.Event().wait()  # the peer's window is closed for good

    store.start()
    worker = ArrivingWorker(Arrival("link", "ann"), "W1", False, 1.0)
    enrolment = await store.submit(lambda connection: enrol(connection, run, worker, AT))
    token = auth.worker_token(enrolment.assignment)
    async with asyncio.timeout(PATIENCE):
        await adapter.serve(WebSocket({"type": "websocket", "client": ("here", 1)}, receive, send))
    store.stop()
    assert len(live) == 0
    assert next(frames) < 1000


def test_a_flood_is_refused_and_passes(url: str, run: OpenRun, serve: Serve) -> None:
    house = serve(url, run, messages_per_session="5/2second")
    with house.page() as page:
        page.agree()
        page.open_topic()
        page.ask("say", text="one")
        answers = [page.ask("end_conversation") for _ in range(4)]
        assert [answer["code"] for answer in answers[2:]] == ["rate_limited"] * 2
        assert all(answer["retry"] for answer in answers[2:])
        wait_until(lambda: page.ask("say", text="two").get("code") != "rate_limited", "the limit to pass")
    assert stored(house, "SELECT count(*) FROM turn WHERE author = 'worker'") == [(2,)]


def test_one_workers_flood_is_not_anothers(url: str, run: OpenRun, serve: Serve) -> None:
    house = serve(url, run, messages_per_session="5/minute")
    with house.page("ann") as ann, house.page("bob") as bob:
        for _ in range(6):
            last = ann.ask("agree", "same")
        assert last["code"] == "rate_limited"
        bob.agree()


def test_too_many_connections_from_one_address(url: str, run: OpenRun, serve: Serve) -> None:
    house = serve(url, run, connections_per_address="2/minute")
    token = house.token("ann")
    for _ in range(2):
        with house.open(token) as page:
            assert page.snapshot["type"] == "snapshot"
    with house.socket() as page:
        page.send("hello", token=token)
        (error,) = page.closed()
    assert (error["code"], error["retry"]) == ("rate_limited", True)


def test_an_exempt_address_has_no_limit(url: str, run: OpenRun, serve: Serve) -> None:
    house = serve(url, run, messages_per_session="5/minute", exempt_addresses=["127.0.0.1"])
    with house.page() as page:
        assert [page.ask("agree", "same")["type"] for _ in range(10)] == ["accepted"] * 10


# ---- bad input: who is there -----------------------------------------------------------------


def other_installation(house: House) -> str:
    return Auth("another secret", "x", 3600).worker_token(_assignment(house))


def tampered(house: House) -> str:
    head, _, tail = house.token("ann").partition(".")
    payload = json.loads(base64.urlsafe_b64decode(head + "=" * (-len(head) % 4)))
    other = json.dumps(payload[:-1] + ("0" if payload[-1] != "0" else "1")).encode()
    return base64.urlsafe_b64encode(other).decode().rstrip("=") + "." + tail


def _assignment(house: House) -> str:
    house.token("ann")
    ((assignment,),) = stored(house, "SELECT id FROM assignment")
    return str(assignment)


@pytest.mark.parametrize(
    ("token", "code"),
    [
        (lambda _: "garbage", "token_invalid"),
        (lambda _: "a.b.c", "token_invalid"),
        (lambda _: "日本", "token_invalid"),
        (tampered, "token_invalid"),
        (other_installation, "token_invalid"),
        (_assignment, "token_invalid"),  # the bare id is not a token
        (lambda house: house.auth.researcher_token, "token_invalid"),
        (lambda house: house.auth.worker_token("nobody"), "assignment_not_found"),
    ],
)
def test_a_bad_token_is_refused(house: House, token: Callable[[House], str], code: str) -> None:
    with house.socket() as page:
        page.send("hello", token=token(house))
        (error,) = page.closed()
    assert (error["type"], error["code"], error["retry"]) == ("error", code, False)


def test_an_expired_token_is_refused(house: House) -> None:
    token = house.token("ann")
    house.stop()
    house.auth = Auth(house.auth.secret, house.auth.researcher_token, token_seconds=-1)
    house.start()
    with house.socket() as page:
        page.send("hello", token=token)
        (error,) = page.closed()
    assert error["code"] == "token_expired"


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        ('{"type": "agree", "id": "x1"}', "wrong_phase"),
        ('{"type": "hello", "id": "x1"}', "invalid_field"),
        ('{"type": "hello", "id": "x1", "token": ""}', "invalid_field"),
        (json.dumps({"type": "hello", "id": "x1", "token": "x" * 513}), "too_long"),
        ("nonsense", "malformed_json"),
        (b"\x00\xff", "malformed_json"),
    ],
)
def test_the_first_message_has_to_be_a_hello(shared: House, frame: str | bytes, code: str) -> None:
    with shared.socket() as page:
        page.raw(frame)
        (error,) = page.closed()
    assert error["code"] == code


def test_a_frame_beyond_all_measure_ends_the_connection_only(house: House) -> None:
    with house.page() as page:
        with suppress(ConnectionClosed):
            page.raw("x" * 2_000_000)
        assert page.closed() == []
    with house.page() as page:
        page.agree()


def test_anothers_token_opens_anothers_session_only(house: House) -> None:
    with house.page("ann") as ann:
        ann.agree()
    with house.page("bob") as bob:
        assert bob.snapshot["phase"] == "instructions"


# ---- bots that fail --------------------------------------------------------------------------


def test_a_bot_that_stumbles_is_asked_again_without_a_word_to_the_worker(url: str, serve: Serve) -> None:
    house = serve(url, make_run(url, bots=Raises(BotError("out of order"), times=1)))
    with house.page() as page:
        page.agree()
        page.open_topic()
        assert page.say("Hello?")["text"] == "Reply 0 to: Hello?"
        types = [json.loads(frame)["type"] for frame in page.heard]
    assert types[:6] == ["snapshot", "topic_due", "accepted", "conversation_started", "accepted", "typing"]
    assert sorted(types[6:]) == ["accepted", "said"]
    assert stored(house, "SELECT kind FROM note") == [("bot_error",)]


def test_a_bot_that_gives_up_is_replaced_and_the_way_goes_on(url: str, serve: Serve) -> None:
    quick = {"bot_try": 0.2, "bot_total": 0.2}
    broken = dict.fromkeys(("quokka_plain", "quokka_warm"), BROKEN)
    house = serve(url, make_run(url, study_text(timeouts=quick), broken))
    replaced = 0
    with house.page() as page:
        page.agree()
        rated = 0
        while rated < 4:
            page.open_topic()
            page.send("say", text="Hello?")
            while (message := page.receive())["type"] not in {"said", "replaced"}:
                assert message["type"] != "error"
            if message["type"] == "replaced":
                named = {"conversation": rated + 1, "attempt": page.attempt + 1}
                assert message == {"type": "replaced", "seq": message["seq"], **named}
                assert named.items() <= page.until("topic_due").items()
                replaced += 1
                continue
            page.say("And you?")
            page.send("end_conversation")
            page.until("rating_due")
            rated += 1
            page.rate("topic_due" if rated < 4 else "feedback_due")
        page.send("feedback", text="")
        page.until("completed")
    # An assignment meets three of the four families, so quokka three times out of four.
    failed = stored(
        house,
        "SELECT name FROM conversation JOIN system ON system.id = system_id "
        "WHERE conversation.status = 'failed'",
    )
    assert len(failed) == replaced
    assert {name for (name,) in failed} <= set(broken)


def test_a_refresh_after_a_replacement_says_so(url: str, serve: Serve) -> None:
    house = serve(url, make_run(url, study_text(timeouts={"bot_try": 0.2, "bot_total": 0.2}), BROKEN))
    with house.page() as page:
        page.agree()
        page.open_topic()
        page.send("say", text="Hello?")
        page.until("replaced")
    with house.page() as page:
        card = page.snapshot["conversation"]
        assert (page.snapshot["phase"], card["turns"]) == ("topic", [])
        assert (card["conversation"], card["attempt"]) == (1, 2)


def test_a_line_of_a_failed_attempt_does_not_land_in_its_replacement(url: str, serve: Serve) -> None:
    """One device was away with a line; on another the attempt failed and its replacement has begun."""
    quick = {"bot_try": 0.2, "bot_total": 0.2}
    house = serve(url, make_run(url, study_text(timeouts=quick), BROKEN))
    token = house.token("ann")
    with house.open(token) as phone:
        phone.agree()
        phone.open_topic()
    with house.open(token) as desktop:
        desktop.send("say", text="Hello?")
        desktop.until("replaced")
        desktop.until("topic_due")
        desktop.open_topic()
    with house.open(token) as back:
        held = {"conversation": 1, "attempt": 1, "turn": 0}
        error = back.ask("say", "held", **held, text="Held back.")
        assert (error["code"], error["retry"], error["id"]) == ("wrong_phase", False, "held")
    assert stored(house, "SELECT conversation_id LIKE '%-1.1', text FROM turn") == [(1, "Hello?")]


# ---- pages of other versions -----------------------------------------------------------------


def say_hello(house: House, **hello: Any) -> tuple[list[dict[str, Any]], int | None]:
    """Return what a `hello` that is written out is answered with, and the code of the closing."""
    with house.socket() as page:
        page.raw(json.dumps({"type": "hello", "id": "h1", **hello}))
        return page.closed(), page.connection.close_code


def test_a_page_built_before_is_told_to_reload_and_loses_no_word(house: House) -> None:
    token = house.token("ann")
    with house.open(token) as page:
        page.agree()
        page.open_topic()
        for text in ("first", "second"):
            page.ask("say", text=text)
            page.until("said")
    ((error,), code) = say_hello(house, token=token)  # version 1 did not name itself
    assert error == {
        "type": "error",
        "seq": 1,
        "code": "outdated_page",
        "message": "this page was opened before the study's server was updated. Press the button to go on "
        "where you were: nothing that was saved is lost.",
        "retry": False,
        "id": "h1",
    }
    assert code == CLOSE_OUTDATED
    with house.open(token) as page:  # loaded again
        turns = page.snapshot["conversation"]["turns"]
        assert [turn["text"] for turn in turns if turn["author"] == "worker"] == ["first", "second"]
        assert page.ask("end_conversation")["type"] == "accepted"


@pytest.mark.parametrize(
    ("hello", "reason"),
    [
        ({"protocol": 1}, "was opened before the study's server was updated"),
        ({"protocol": None}, "was opened before the study's server was updated"),
        ({"protocol": PROTOCOL_VERSION + 1}, "is newer than the study's server"),
        ({"protocol": PROTOCOL_VERSION + 1, "device": "phone"}, "is newer than the study's server"),
    ],
)
def test_a_page_of_another_version_is_told_so_before_its_token_is_looked_at(
    shared: House, hello: dict[str, Any], reason: str
) -> None:
    ((error,), code) = say_hello(shared, token="of another server", **hello)
    assert (error["code"], error["retry"], code) == ("outdated_page", False, CLOSE_OUTDATED)
    assert error["message"].startswith(f"this page {reason}. Press the button")


def test_a_page_of_another_version_leaves_the_page_that_is_open_alone(house: House) -> None:
    token = house.token("ann")
    with house.open(token) as page:
        say_hello(house, token=token)
        page.agree()
        assert "taken_over" not in {json.loads(frame)["type"] for frame in page.heard}


def test_other_refusals_close_as_before(house: House) -> None:
    ((error,), code) = say_hello(house, token="garbage", protocol=PROTOCOL_VERSION)
    assert (error["code"], code) == ("token_invalid", 1000)


def test_an_old_page_comes_within_the_limit_of_its_address(url: str, run: OpenRun, serve: Serve) -> None:
    house = serve(url, run, connections_per_address="1/minute")
    codes = [say_hello(house, token="t")[0][0]["code"] for _ in range(2)]
    assert codes == ["outdated_page", "rate_limited"]


# ---- blinding --------------------------------------------------------------------------------


def test_nothing_that_a_worker_is_sent_tells_systems_apart(url: str, serve: Serve) -> None:
    quick = {"bot_try": 0.2, "bot_total": 0.2}
    bots: dict[str, Bot] = {name: Says("What do you think?") for name in SYSTEMS}
    bots |= {"quokka_plain": BROKEN, "marmot_warm": BROKEN}
    house = serve(url, make_run(url, study_text(timeouts=quick), bots), exempt_addresses=["127.0.0.1"])
    sent: list[str] = []
    # Enough workers for every system to be met, failures and refusals included.
    for number in range(4):
        answer = house.join(f"w{number}")
        token, assignment = answer.json()["token"], answer.json()["assignment"]
        # Its own token and assignment are all that the way in tells a worker.
        sent += [str(answer.headers), answer.text.replace(token, "").replace(assignment, "")]
        with house.open(token) as page:
            assert page.connection.response is not None
            headers = dict(page.connection.response.headers.raw_items())
            del headers["Sec-WebSocket-Accept"]  # a digest, in which any two letters may meet
            sent.append(str(headers))
            page.agree()
            done = 0
            while done < 4:
                page.ask("topic", text="the sea", opinion="like")
                page.ask("rate", ratings={})
                page.ask("end_conversation")
                page.send("say", text="Hello?")
                while (message := page.receive())["type"] not in {"said", "replaced"}:
                    pass
                if message["type"] == "replaced":
                    page.until("topic_due")
                    continue
                page.say("And you?")
                page.send("end_conversation")
                page.until("rating_due")
                page.send("rate", "r", ratings={"zeal": 3})
                done += 1
                page.send("rate", ratings=RATINGS)
                while page.receive()["type"] not in {"topic_due", "feedback_due"}:
                    pass
            page.send("feedback", text="")
            page.until("completed")
            sent += page.heard
        for path in ("/w/" + RUN, "/api/desk/runs", "/nowhere"):
            refused = house.http("GET", path)
            sent += [str(refused.headers), refused.text]
    met = stored(house, "SELECT DISTINCT name FROM conversation JOIN system ON system.id = system_id")
    assert {name for (name,) in met} == {*SYSTEMS, "qc"}
    assert stored(house, "SELECT count(*) FROM note WHERE kind = 'replaced'") != [(0,)]
    everything = "\n".join(sent).lower()
    secrets = {*SYSTEMS, *SYSTEMS.values(), "qc", "_plain", "_warm", "://spec", "seed", "persona"}
    secrets |= {sentence for persona in PERSONAS for sentence in persona}
    for sql in (
        "SELECT id FROM conversation",
        "SELECT seed FROM conversation UNION SELECT seed FROM run",
        "SELECT spec FROM bot",
        "SELECT DISTINCT assignment_id FROM conversation",
    ):
        secrets |= {str(value) for (value,) in stored(house, sql)}
    assert "what do you think?" in everything  # what was collected is what was said
    assert [secret for secret in secrets if secret.lower() in everything] == []


def test_whatever_bot_it_is_the_frames_are_the_same_but_for_its_words(url: str, serve: Serve) -> None:
    house = serve(url, make_run(url, bots=Says("The same words.")))
    with house.page() as page:
        page.ask("agree", "first")
        conversations = []
        for _ in range(4):
            page.heard.clear()
            page.converse()
            page.ask("rate", ratings=RATINGS)
            page.ask("agree", "first")  # once this is accepted, everything before it was heard
            frames = [json.loads(frame) for frame in page.heard]
            conversations.append(sorted(str({**f, "seq": 0, "id": "", "conversation": 0}) for f in frames))
        # The qc bot's among them. Only what follows the last one differs: feedback instead of a topic.
        assert conversations[0] == conversations[1] == conversations[2]
        assert len(conversations[3]) == len(conversations[0])


# ---- restarts --------------------------------------------------------------------------------


def test_a_restart_in_the_middle_of_a_reply_asks_again_and_loses_nothing(url: str, serve: Serve) -> None:
    bot = Gated()
    house = serve(url, make_run(url, bots=bot))
    token = house.token("ann")
    with house.open(token) as page:
        page.agree()
        page.open_topic()
        page.ask("say", "mine", text="Are you there?")
        house.stop()
        assert page.closed() == []
    house.start()
    bot.gate.set()
    with house.open(token) as page:
        assert page.snapshot["conversation"]["typing"]
        assert page.until("said")["text"] == "Reply 0 to: Are you there?"
        assert page.ask("say", "mine", turn=0, text="Are you there?")["type"] == "accepted"
        page.say("Good.")
    assert bot.calls == 3  # before the restart, after it, and for the second line
    assert stored(house, "SELECT turn_index, author FROM turn ORDER BY 1") == [
        (0, "worker"),
        (1, "bot"),
        (2, "worker"),
        (3, "bot"),
    ]


def test_a_reply_that_waited_to_be_shown_is_shown_after_a_restart(url: str, serve: Serve) -> None:
    soon = {"median": 1, "spread": 0, "longest": 1}
    house = serve(url, make_run(url, study_text(reply_time=soon)))
    with house.page() as page:
        page.agree()
        page.open_topic()
        page.ask("say", text="Hello?")
        wait_until(lambda: stored(house, "SELECT count(*) FROM turn") == [(2,)], "the reply")
    house.stop()
    house.start()
    with house.page() as page:
        if page.snapshot["conversation"]["typing"]:
            page.until("said")
        page.say("Fine.")
    assert stored(house, "SELECT count(*) FROM turn") == [(4,)]


def test_every_phase_survives_a_restart(url: str, run: OpenRun, serve: Serve) -> None:
    house = serve(url, run)
    token = house.token("ann")
    steps: list[tuple[str, Callable[[Page], object]]] = [
        ("instructions", lambda page: page.agree()),
        ("topic", lambda page: page.open_topic()),
        ("chat", lambda page: [page.say("a"), page.say("b"), page.ask("end_conversation")]),
        ("rating", lambda page: page.rate()),
        ("topic", lambda page: None),
    ]
    for phase, step in steps:
        with house.open(token) as page:
            assert page.snapshot["phase"] == phase
            step(page)
        house.stop()
        house.start()
