"""Tests of flagged messages on the desk: found, read, and marked as seen."""

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.axe import clean
from tests.e2e.hands import enter, open_topic, press, say
from tests.e2e.stage import Stage
from tests.e2e.studies import desk
from tests.server.support.database import execute
from tests.server.support.study import AT

pytestmark = pytest.mark.browser


def test_a_flagged_line_is_read_and_marked_as_seen(page: Page, phone: Page, stage: Stage) -> None:
    enter(phone, f"{stage.url}/w/platform?worker=flagged")
    open_topic(phone)
    say(phone, "I bake bread.")
    ((conversation,),) = stage.rows(
        "SELECT turn.conversation_id FROM turn JOIN conversation ON conversation.id = conversation_id "
        "JOIN assignment ON assignment.id = assignment_id JOIN worker ON worker.id = worker_id "
        "WHERE pseudonym = ? AND turn_index = 0",
        stage.pseudonym("flagged"),
    )
    execute(
        f"sqlite:///{stage.database}",
        "INSERT INTO moderated_line (conversation_id, turn_index, flagged, categories, judged_at) "
        "VALUES (?, 0, ?, 'harassment', ?)",
        conversation, True, AT,
    )  # fmt: skip
    desk(page, stage, "runs/platform")
    needed = page.get_by_role("region", name="Needs attention")
    expect(needed).to_contain_text("1 line flagged by the moderation service (0 of chatbots, 1 of workers)")
    needed.get_by_role("link", name="Read").click()
    flag = page.locator(".reported")
    expect(flag).to_contain_text("Flagged by the moderation service: harassment")
    clean(page)
    press(page, "Mark as seen")
    expect(flag).to_contain_text("Seen by you")
    page.go_back()
    expect(needed).to_contain_text("No action needed.")
