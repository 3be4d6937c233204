"""Tests of opening a worker's connection: tokens, the first message, pages of other versions."""

import base64
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed

from server.access.auth import Auth
from server.bots.lineup import OpenRun
from server.session.protocol import CLOSE_OUTDATED, PROTOCOL_VERSION
from tests.server.support.server import House, stored

Serve = Callable[..., House]


# ---- bad input: who is there -----------------------------------------------------------------


def other_installation(house: House) -> str:
    return Auth("another secret", "x", 3600).worker_token(_assignment(house))


def tampered(house: House) -> str:
    house.enrolled("ann")
    head, _, tail = house.token("ann").partition(".")
    payload = json.loads(base64.urlsafe_b64decode(head + "=" * (-len(head) % 4)))
    other = json.dumps(payload[:-1] + ("0" if payload[-1] != "0" else "1")).encode()
    return base64.urlsafe_b64encode(other).decode().rstrip("=") + "." + tail


def _assignment(house: House) -> str:
    house.enrolled("ann")
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
    house.auth = replace(house.auth, token_seconds=-1)
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
        (json.dumps({"type": "hello", "id": "x1", "token": "x" * 4_097}), "too_long"),
        ("nonsense", "malformed_json"),
        (b"\x00\xff", "malformed_json"),
    ],
)
def test_the_first_message_has_to_be_a_hello(either: House, frame: str | bytes, code: str) -> None:
    with either.socket() as page:
        page.raw(frame)
        (error,) = page.closed()
    assert error["code"] == code


def test_a_frame_beyond_all_measure_ends_the_connection_only(either: House, someone: str) -> None:
    with either.page(someone) as page:
        with suppress(ConnectionClosed):
            page.raw("x" * 2_000_000)
        assert page.closed() == []
    with either.page(someone) as page:
        page.agree()


def test_anothers_token_opens_anothers_session_only(house: House) -> None:
    with house.page("ann") as ann:
        ann.agree()
    with house.page("bob") as bob:
        assert bob.snapshot["phase"] == "instructions"


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
        "code": "outdated_page",
        "message": "This page was opened before the study's server was updated. Press the button to continue "
        "where you were: nothing that was saved is lost.",
        "retry": False,
        "id": "h1",
        "again_at": None,
        "way_back": None,
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
    assert error["message"].startswith(f"This page {reason}. Press the button")


def test_a_page_of_another_version_leaves_the_page_that_is_open_alone(house: House) -> None:
    token = house.token("ann")
    with house.open(token) as page:
        say_hello(house, token=token)
        page.agree()
        assert "taken_over" not in {message["type"] for message in page.heard}


def test_other_refusals_close_as_before(house: House) -> None:
    ((error,), code) = say_hello(house, token="garbage", protocol=PROTOCOL_VERSION)
    assert (error["code"], code) == ("token_invalid", 1000)


def test_an_old_page_comes_within_the_limit_of_its_address(url: str, run: OpenRun, serve: Serve) -> None:
    house = serve(url, run, connections_per_address="1/minute")
    codes = [say_hello(house, token="t")[0][0]["code"] for _ in range(2)]
    assert codes == ["outdated_page", "rate_limited"]
