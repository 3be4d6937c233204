"""Tests of verifying and parsing Prolific's events."""

from datetime import UTC, datetime, timedelta

import pytest

from server.recruiters.prolific.hooks import (
    EVENT,
    SIGNATURE,
    TIMESTAMP,
    genuine,
    signature,
)
from server.recruiters.signatures import ArrivedEvent, NotGenuine

AT = datetime(2026, 11, 23, 12, 0, tzinfo=UTC)
BODY = b'{"event_type": "submission.status.change", "resource_id": "s1", "status": "ACTIVE"}'


def headers(at: datetime = AT, body: bytes = BODY, **other: str) -> dict[str, str]:
    timestamp = str(int(at.timestamp()))
    given = {
        "timestamp": timestamp,
        "signature": signature("a secret", timestamp, body),
        "event": "e1",
    } | other
    return {TIMESTAMP: given["timestamp"], SIGNATURE: given["signature"], EVENT: given["event"]}


def test_the_signature_is_the_one_that_openssl_makes() -> None:
    # printf '1700000000{"a": 1}' | openssl dgst -sha256 -hmac "a secret" -binary | base64
    assert signature("a secret", "1700000000", b'{"a": 1}') == "sP2WkeosLnKZ8H4dfd70if7ZoAqNyAD2hnM/7eAeqOg="


@pytest.mark.parametrize("seconds", [0, 299, -299])
def test_an_event_says_what_it_is_about(seconds: int) -> None:
    given = headers(AT - timedelta(seconds=seconds))
    assert genuine("a secret", given, BODY, AT) == ArrivedEvent("e1", given[SIGNATURE], None, "s1")


def test_an_event_of_a_study_names_the_study() -> None:
    body = b'{"event_type": "study.status.change", "resource_id": "st1"}'
    found = genuine("a secret", headers(body=body), body, AT)
    assert (found.study, found.submission) == ("st1", None)


@pytest.mark.parametrize(
    ("given", "body", "why"),
    [
        (headers(), BODY + b" ", "its signature was not made with our secret"),
        (headers(timestamp="1"), BODY, "its signature was not"),
        (headers(signature="é"), BODY, "its signature was not"),
        ({}, BODY, "its signature was not"),
        (headers(AT - timedelta(seconds=301)), BODY, "it was sent 301 seconds ago; 300 are allowed"),
        (headers(AT + timedelta(seconds=301)), BODY, "it was sent 301 seconds from now"),
        (headers(timestamp="now", signature=signature("a secret", "now", BODY)), BODY, "is not a time"),
        (headers(event=""), BODY, "X-Event-ID is missing"),
        (headers(event="e" * 101), BODY, "X-Event-ID is missing, or not an id"),
        (headers(body=b"[]"), b"[]", "does not say what it is about"),
        (headers(body=b"\xff"), b"\xff", "does not say what it is about"),
    ],
    ids=[
        "altered",
        "other time",
        "not ASCII",
        "unsigned",
        "old",
        "to come",
        "no time",
        "no id",
        "long id",
        "no object",
        "no text",
    ],
)
def test_what_is_not_genuine_is_refused_with_the_reason(given: dict[str, str], body: bytes, why: str) -> None:
    with pytest.raises(NotGenuine, match=why):
        genuine("a secret", given, body, AT)


def test_another_secret_has_not_signed_it() -> None:
    with pytest.raises(NotGenuine, match="not made with our secret"):
        genuine("another", headers(), BODY, AT)
