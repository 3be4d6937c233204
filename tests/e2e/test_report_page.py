"""The worker's page: a message is reported, taken back, or left with; by keyboard, and on a phone."""

import pytest
import yaml
from playwright.sync_api import Browser, Page, expect

from tests.e2e.axe import clean, clean_in_both_colours
from tests.e2e.hands import context_of, enter, open_topic, press, say
from tests.e2e.stage import RUNS, Stage, demo_study
from tests.e2e.studies import call, desk
from tests.server.support.prolific import Prolific
from tests.server.support.recruiting import CODE, PLAN
from tests.support.waiting import wait_until

pytestmark = pytest.mark.browser
OPEN, DONE = "Report this message", "Reported. Change or take back"


def chat(page: Page, stage: Stage, run: str, worker: str) -> None:
    enter(page, f"{stage.url}/w/{run}?worker={worker}")
    open_topic(page)


def reported(stage: Stage, worker: str) -> list[tuple[object, ...]]:
    """Return a worker's reports as stored: the line, why, the note, whether they left, or took it back."""
    return stage.rows(
        "SELECT turn_index, reason, note, left_with_it, taken_back_at IS NOT NULL FROM v1_message_report "
        "WHERE worker = ? ORDER BY ordinal",
        stage.pseudonym(worker),
    )


def test_a_reply_is_reported_by_keyboard_changed_and_taken_back(page: Page, stage: Stage) -> None:
    chat(page, stage, "short", "reports")
    say(page, "I bake bread.")
    button = page.get_by_role("button", name=OPEN)
    box = button.bounding_box()
    assert box is not None
    assert min(box["width"], box["height"]) >= 24
    button.focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name=OPEN)
    clean_in_both_colours(page)
    press(page, "Send and continue")
    expect(dialog.get_by_text("Please choose one.")).to_be_visible()
    dialog.get_by_role("radio", name="It is offensive or hateful").focus()
    page.keyboard.press("Space")
    dialog.get_by_label("Anything you would like to add?").fill("It insults bakers.")
    press(page, "Send and continue")
    expect(dialog).to_have_count(0)
    done = page.get_by_role("button", name=DONE)
    expect(done).to_be_focused()
    stored = (1, "offensive", "It insults bakers.")
    wait_until(lambda: reported(stage, "reports") == [(*stored, 0, 0)], "the report")
    page.reload()
    done.click()
    expect(page.get_by_role("radio", name="It is offensive or hateful")).to_be_checked()
    expect(page.get_by_label("Anything you would like to add?")).to_have_value("It insults bakers.")
    clean(page)
    press(page, "Take back the report")
    expect(button).to_be_visible()
    page.reload()
    expect(button).to_be_visible()
    wait_until(lambda: reported(stage, "reports") == [(*stored, 0, 1)], "the report to be taken back")
    say(page, "The chat goes on.")


def test_who_leaves_with_a_report_has_a_code_on_a_phone(phone: Page, stage: Stage) -> None:
    page = phone
    chat(page, stage, "short", "leaves")
    say(page, "I bake bread.")
    page.get_by_role("button", name=OPEN).click()
    page.get_by_role("radio", name="It asks for personal details").check()
    clean(page)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    press(page, "Send and leave")
    expect(page.get_by_role("heading", name="Thank you for telling us")).to_be_visible()
    code = page.locator(".code-text").inner_text()
    page.reload()
    expect(page.locator(".code-text")).to_have_text(code)
    clean(page)
    assert reported(stage, "leaves") == [(1, "personal", None, 1, 0)]
    status = "SELECT status FROM v1_assignment WHERE worker = ?"
    assert stage.rows(status, stage.pseudonym("leaves")) == [("returned",)]


def test_one_of_two_chatbots_is_reported(page: Page, stage: Stage) -> None:
    chat(page, stage, "ends", "sides")
    message = page.get_by_label("Your message")
    message.fill("I bake bread.")
    message.press("Enter")
    buttons = page.get_by_role("button", name=OPEN)
    expect(buttons).to_have_count(2)
    right = page.locator(".both .bubble-bot").nth(1).locator(".bubble-text").inner_text()
    buttons.nth(1).click()
    expect(page.locator(".report-text")).to_have_text(right)
    page.get_by_role("radio", name="Something else").check()
    press(page, "Send and continue")
    expect(page.locator(".both .bubble-bot").nth(1).get_by_role("button", name=DONE)).to_be_visible()
    expect(page.locator(".both .bubble-bot").nth(0).get_by_role("button", name=OPEN)).to_be_visible()
    clean(page)
    sides = (
        "SELECT side FROM message_report JOIN conversation ON conversation.id = conversation_id "
        "WHERE side IS NOT NULL"
    )
    wait_until(lambda: stage.rows(sides) == [("right",)], "the report")


def test_a_researcher_reads_a_report_as_it_comes_and_marks_it_as_seen(
    page: Page, phone: Page, stage: Stage
) -> None:
    desk(page, stage, "runs/platform")
    needed = page.get_by_role("region", name="Needs attention")
    expect(page.get_by_role("heading", level=1, name="platform")).to_be_visible()
    chat(phone, stage, "platform", "told")
    say(phone, "I bake bread.")
    phone.get_by_role("button", name=OPEN).click()
    phone.get_by_role("radio", name="It is sexual").check()
    phone.get_by_label("Anything you would like to add?").fill("I only bake.")
    press(phone, "Send and continue")
    expect(needed).to_contain_text("1 reported message that nobody has seen")
    clean(page)
    needed.get_by_role("link", name="Read").click()
    told = page.locator(".reported")
    expect(told).to_contain_text("Reported: sexual")
    expect(told).to_contain_text("I only bake.")
    clean(page)
    press(page, "Mark as seen")
    expect(told).to_contain_text("Seen by you")
    page.reload()
    expect(told).to_contain_text("Seen by ")
    page.go_back()
    expect(needed).to_contain_text("No action needed.")


@pytest.mark.soak  # test_recruiting_page has the way back, and test_pay what is proposed to be paid
def test_who_leaves_with_a_report_comes_back_to_the_platform_and_is_proposed_to_be_paid_in_full(
    browser: Browser, page: Page, prolific_stage: Stage, prolific: Prolific
) -> None:
    quick = RUNS["platform"] | {"completion_url": None}
    recruiter = {"recruiter": {"kind": "prolific", "completion_code": CODE}}
    text = yaml.safe_dump(demo_study(**quick, **recruiter), sort_keys=False)
    opened = {"run": "reports", "yaml": text, "despite_failing_bots": True}
    call(page, prolific_stage, "POST", "/runs", opened)
    call(page, prolific_stage, "POST", "/runs/reports/recruitment", PLAN)
    study = call(page, prolific_stage, "POST", "/runs/reports/recruitment/publish")["recruitment"]["study"]
    participant = context_of(browser, 360).new_page()
    enter(participant, f"{prolific.url}/studies/{study}/take-part?as=PID-eve")
    open_topic(participant)
    say(participant, "I bake bread.")
    participant.get_by_role("button", name=OPEN).click()
    participant.get_by_role("radio", name="It is about harming oneself or others").check()
    press(participant, "Send and leave")
    expect(participant.locator(".code-text")).to_be_visible()
    assert participant.locator(".code-text").inner_text() != CODE
    participant.get_by_role("link", name="Go back now").click()
    expect(participant.get_by_role("heading", name="Thank you")).to_be_visible()
    (one,) = prolific.platform.of_study(study)
    assert one.status == "AWAITING REVIEW"
    participant.context.close()
    desk(page, prolific_stage, "runs/reports/recruiting")
    expect(page.get_by_text("left after reporting a message")).to_be_visible()
