"""Bad input on the worker's WebSocket: frames that are refused, each by its own error."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from server.bots.lineup import OpenRun
from server.session.protocol import MAX_FEEDBACK, MAX_FRAME_BYTES, MAX_SAY, MAX_TOPIC
from tests.server.support.server import House, stored
from tests.server.support.study import RATINGS

Serve = Callable[..., House]

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
    "only control characters": (SAY % "\\u0000\\u0007", "invalid_field", "no visible characters"),
    "only what has no width": (SAY % "\\u200b\\u200b", "invalid_field", "no visible characters"),
    "only what is drawn as nothing": (
        SAY % "\\u2800 \\u3164\\u115f",
        "invalid_field",
        "no visible characters",
    ),
    "only a turn of the direction": (SAY % "\\u202e\\u2066", "invalid_field", "no visible characters"),
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
    "a frame twice too large": (SAY % ("x" * 60_000), "too_long", f"at most {MAX_FRAME_BYTES} bytes"),
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
        "Expected conversation 1, attempt 1, got conversation 2, attempt 1",
    ),
    "another attempt": (
        '{"type": "end_conversation", "id": "x1", "conversation": 1, "attempt": 2}',
        "wrong_phase",
        "Expected conversation 1, attempt 1, got conversation 1, attempt 2",
    ),
    "another line": (
        '{"type": "say", "id": "x1", "conversation": 1, "attempt": 1, "turn": 2, "text": "a"}',
        "wrong_phase",
        "Expected line 0, got line 2",
    ),
    "hello again": ('{"type": "hello", "id": "x1", "token": "t"}', "wrong_phase", "got `hello`"),
    "the wrong phase": (
        '{"type": "feedback", "id": "x1", "text": ""}',
        "wrong_phase",
        "Expected `say` or `topic_change` or `end_conversation` or `report` or `take_back_report` or `leave` "
        "(chat phase), got `feedback`",
    ),
    "too few inputs": (
        '{"type": "end_conversation", "id": "x1", "conversation": 1, "attempt": 1}',
        "too_few_inputs",
        "2 more messages needed",
    ),
}


@pytest.mark.parametrize("kind", BAD_FRAMES)
def test_a_bad_frame_has_its_own_error_and_the_session_goes_on(
    either: House, someone: str, kind: str
) -> None:
    frame, code, reason = BAD_FRAMES[kind]
    with either.page(someone) as page:
        page.agree()
        page.open_topic()
        error = page.refused(frame)
        assert error["code"] == code
        assert reason in error["message"]
        assert not error["retry"]
        assert len(error["message"]) < 600
        assert page.say("still here")["text"] == "Reply 0 to: still here"
    with either.page(someone) as page:
        assert len(page.snapshot["conversation"]["turns"]) == 2


def test_an_error_names_the_message_it_is_about(either: House, someone: str) -> None:
    with either.page(someone) as page:
        assert page.refused('{"type": "say", "id": "mine"}')["id"] == "mine"
        assert (
            page.refused(
                '{"type": "say", "id": "mine", "conversation": 1, "attempt": 1, "turn": 0, "text": "%s"}'
                % ("x" * 60_000)
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
        house.kept(worker),
    )


def test_control_characters_are_taken_out_of_what_is_stored(house: House) -> None:
    with house.page() as page:
        page.agree()
        page.open_topic("the\x00 sea\x07")
        said = page.say(" a\x00b\x1b[31m\tc\n日本 🦉 ")
        assert said["text"] == "Reply 0 to: ab[31m c\n日本 🦉"
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
def test_an_error_does_not_repeat_all_that_was_sent(either: House, someone: str, frame: str) -> None:
    with either.page(someone) as page:
        page.agree()
        page.converse()
        assert len(page.refused(frame)["message"]) < 600
