"""Who is forgotten before they are paid is paid all the same, and forgotten wholly then."""

import pytest

from tests.server.support.database import query
from tests.server.support.recruiting import Recruiting

pytestmark = pytest.mark.databases("sqlite", "postgresql")
VISITS = "SELECT visit FROM visit ORDER BY visit"


def forget(recruiting: Recruiting, participant: str) -> None:
    answer = recruiting.house.desk("/workers/forget", method="POST", json={"worker": participant})
    assert answer.status_code == 200, answer.text


def test_who_is_forgotten_before_they_are_paid_is_paid(recruiting: Recruiting) -> None:
    recruiting.publish()
    read = recruiting.finish("PID-ann")
    recruiting.refreshed()
    unread = recruiting.finish("PID-bob")
    for participant in ("PID-ann", "PID-bob"):
        forget(recruiting, participant)
    found = recruiting.refreshed()
    assert found["differences"] == []
    assert {row["submission"]: row["proposal"]["pay"] for row in found["submissions"]} == {
        read: "all",
        unread: "all",
    }
    recruiting.ask("/decisions", submissions=[read], decision="approve")
    recruiting.refreshed()
    assert query(recruiting.house.url, VISITS) == [(unread,)]
    recruiting.ask("/decisions", submissions=[unread], decision="approve")
    recruiting.refreshed()
    assert query(recruiting.house.url, VISITS) == []


def test_who_was_paid_is_forgotten_at_once(recruiting: Recruiting) -> None:
    recruiting.publish()
    submission = recruiting.finish("PID-ann")
    recruiting.refreshed()
    recruiting.ask("/decisions", submissions=[submission], decision="approve")
    forget(recruiting, "PID-ann")
    assert query(recruiting.house.url, VISITS) == []
