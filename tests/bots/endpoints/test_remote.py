"""Tests of reading a provider's errors."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from bots.endpoints.remote import LONGEST_MESSAGE, failure_of


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ('{"error": {"message": "Too hot."}}', 'says "Too hot."'),
        ('[{"error": {"code": 400, "message": "Too hot.", "status": "INVALID_ARGUMENT"}}]', "Too hot."),
        ('{"error": "Too hot."}', "Too hot."),
        ('{"message": "Too hot."}', "Too hot."),
        ('{"detail": "Too hot."}', "Too hot."),
        ('{"detail": [{"loc": ["body"]}]}', "the log has the beginning of the answer"),
        ('{"error": {"message": null}}', "the log has the beginning of the answer"),
        ("<p>Too <b>hot</b>.</p>", 'says "Too hot ."'),
        ("[]", "the log has the beginning of the answer"),
        ("3", "the log has the beginning of the answer"),
    ],
)
def test_the_providers_own_words(body: str, told: str) -> None:
    assert told in str(failure_of(400, {}, body, None))


def test_words_are_bounded_and_on_one_line() -> None:
    error = str(failure_of(400, {}, '{"error": "a\\n\\u001bb' + "x" * 2_000 + '"}', None))
    assert "a b" in error
    assert len(error) < LONGEST_MESSAGE + 100


@pytest.mark.parametrize(
    ("status", "body", "kind", "retry"),
    [
        (400, "", "refused", False),
        (402, "", "budget", False),
        (400, '{"error": {"message": "Your credit balance is too low."}}', "budget", False),
        (401, "", "error", False),
        (404, "", "error", True),
        (413, "", "refused", False),
        (422, "", "refused", False),
        (429, "", "busy", True),
        (429, '{"error": {"code": "insufficient_quota"}}', "budget", False),
        (400, '{"error": {"code": "content_filter"}}', "declined", False),
        (500, "", "error", True),
        (503, "", "busy", True),
        (529, '{"error": {"type": "overloaded_error"}}', "busy", True),
    ],
)
def test_failures_are_of_a_kind(status: int, body: str, kind: str, retry: bool) -> None:
    error = failure_of(status, {}, body, None)
    assert (error.kind, error.retry) == (kind, retry)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "1e9"}, 3_600.0),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "soon"}, None),
        ({}, None),
    ],
)
def test_how_long_to_wait(headers: dict[str, str], seconds: float | None) -> None:
    assert failure_of(429, headers, "", None).after == seconds


def test_how_long_to_wait_as_a_date() -> None:
    at = format_datetime(datetime.now(UTC) + timedelta(seconds=1_000), usegmt=True)
    assert failure_of(429, {"retry-after": at}, "", None).after == pytest.approx(1_000, abs=60)
