"""A study on the stand-in of Prolific, from the desk alone, with participants who come by its pages.

At its end the run is packed, and what others read of the bundle is what the database says.
"""

import re
from pathlib import Path

import pytest
import yaml
from playwright.sync_api import Browser, Page, expect

from server.recruiters.stand_in.serving import Fault
from tests.e2e.axe import clean
from tests.e2e.bundles import assert_same_numbers, downloaded_bundle
from tests.e2e.hands import context_of, enter, finish, open_topic, press, rate, say
from tests.e2e.stage import RUNS, Stage, demo_study
from tests.e2e.studies import call, desk, open_tab, step
from tests.server.support.prolific import Prolific

pytestmark = pytest.mark.browser
RUN = "recruited"
CONVERSATIONS = 3  # of which one is with the qc bot, without which there is no report


def study_without_a_platform(page: Page, stage: Stage) -> None:
    """Write the study `harbour` in the form, of one system and without a place that workers come from."""
    desk(page, stage, "studies")
    press(page, "New study")
    page.get_by_label("Name").fill("harbour")
    press(page, "Create the study")
    page.get_by_label("Title").fill("Chats by the sea")
    step(page, "Recruiting and payment")
    page.get_by_label("Payment").fill("4.50 GBP")
    step(page, "Bots")
    page.get_by_label("Systems per worker").fill("1")
    press(page, "Add system")
    page.get_by_label("Name", exact=True).fill("shell")
    page.get_by_label("Family").fill("shell")
    page.get_by_label("Bot", exact=True).fill("builtin:reflect")
    step(page, "Quality control")
    page.get_by_label("Quality-control conversations per worker").fill("0")
    expect(page.get_by_role("status").filter(has_text="Unsaved changes")).to_contain_text("no problems")


def run_opened(page: Page, run: str) -> None:
    """Open a run of the study on the page."""
    press(page, "Open a run")
    page.get_by_label("Name of the run").fill(run)
    press(page, "Open the run")
    page.wait_for_url(f"**/desk/runs/{run}")


def take_part(browser: Browser, prolific: Prolific, study: str, who: str) -> Page:
    """Show a participant, who has taken a place, the instructions."""
    page = context_of(browser, 360).new_page()
    enter(page, f"{prolific.url}/studies/{study}/take-part?as={who}")
    return page


def go_all_the_way(page: Page) -> None:
    """Finish the study, and be back at the platform's page."""
    for number in range(1, CONVERSATIONS + 1):
        open_topic(page)
        say(page, "I bake bread.")
        finish(page)
        rate(page, [70 - number, 80, 60, 50, 40 + number, 30, 20])
        press(page, "Submit ratings" if number == CONVERSATIONS else "Submit ratings and continue")
    press(page, "Submit")
    page.get_by_role("link", name=re.compile("Prolific|platform|Return|back", re.IGNORECASE)).click()


def confirm(page: Page, name: str, what: str | None = None) -> None:
    """Press a button, and the one in the dialog that it opens."""
    press(page, name)
    page.get_by_role("dialog").get_by_role("button", name=what or name, exact=True).click()
    expect(page.get_by_role("dialog")).to_have_count(0)


def decide(page: Page, submissions: list[str], choice: str, **fields: str) -> None:
    for submission in submissions:
        page.get_by_label(f"Select {submission}").check()
    press(page, f"Review selected ({len(submissions)})")
    page.get_by_label("Decision", exact=True).select_option(label=choice)
    for label, text in fields.items():
        page.get_by_label(re.compile(label)).fill(text)
    page.get_by_role("dialog").get_by_role("button", name=choice, exact=True).click()
    expect(page.get_by_role("dialog")).to_have_count(0)


def draft(page: Page) -> None:
    """Plan a study, first without paid screen-outs, and create its draft."""
    for label, text in {"Places": "5", "Reward": "4.50", "Minutes": "20"}.items():
        page.get_by_label(label, exact=True).fill(text)
    press(page, "Create draft")
    expect(page.get_by_text("Enter a number, such as 20.")).to_have_count(1)
    for label, text in {"Paid screen-out places": "2", "Reward for a screen-out": "0.50"}.items():
        page.get_by_label(label, exact=True).fill(text)
    # 5 · 4.50 + 2 · 0.50
    expect(page.get_by_role("definition").filter(has_text="23.50")).to_be_visible()
    press(page, "Create draft")
    expect(page.get_by_role("heading", name="Review and publish")).to_be_visible()


def publish(page: Page, stage: Stage) -> None:
    """Open a run, and publish its study from its page: the second draft."""
    quick = RUNS["platform"] | {"completion_url": None, "systems_per_assignment": 2, "qc_per_assignment": 1}
    recruiter = {"recruiter": {"kind": "prolific", "completion_code": "C1AB2CD3"}}
    text = yaml.safe_dump(demo_study(**quick, **recruiter), sort_keys=False)
    call(page, stage, "POST", "/runs", {"run": RUN, "yaml": text, "despite_failing_bots": True})
    desk(page, stage, f"runs/{RUN}")
    open_tab(page, "Recruiting")
    draft(page)
    clean(page)
    confirm(page, "Discard draft")
    draft(page)
    # 23.50, a fee of a third of it, and a tax of a fifth of the fee
    confirm(page, "Publish for up to 32.90 GBP", "Publish")
    expect(page.get_by_text("Active", exact=True)).to_be_visible()


def five_come(browser: Browser, prolific: Prolific, study: str) -> dict[str, str]:
    """Two finish, one gives the place back, one takes too long, one is screened out; return submissions."""
    platform = prolific.platform
    pages = [take_part(browser, prolific, study, f"PID-{who}") for who in ("ann", "bob", "cay", "dee")]
    out = platform.reserve(study, "PID-eve")
    for one in pages[:2]:
        go_all_the_way(one)
        expect(one.get_by_role("heading", name="Thank you")).to_be_visible()
    pages[2].goto(f"{prolific.url}/submissions/return")
    platform.complete(out.id, platform.study(study).given["completion_codes"][-1]["code"])
    prolific.clock.pass_by(minutes=61)  # of 60 that they have
    for one in pages:
        one.context.close()
    found = platform.of_study(study)
    ended = ["AWAITING REVIEW", "AWAITING REVIEW", "RETURNED", "TIMED-OUT", "SCREENED OUT"]
    assert [one.status for one in found] == ended
    return {one.participant: one.id for one in found}


def release_both(page: Page) -> None:
    held = page.get_by_text("still holding a slot in Candor")
    expect(held).to_have_count(2)
    clean(page)
    for left in (1, 0):
        page.get_by_role("button", name=re.compile("^End session and free the slot")).first.click()
        page.get_by_role("dialog").get_by_role("button", name="End session and free the slot").click()
        expect(held).to_have_count(left)
    expect(page.get_by_text("In sync with Prolific.")).to_be_visible()


def prepare_too_much_and_think_again(page: Page, submission: str) -> None:
    page.get_by_role("button", name=f"Other decisions about {submission}").click()
    page.get_by_role("menuitem", name="Prepare a bonus").click()
    page.get_by_label("Bonus for each").fill("150")
    page.get_by_label("Purpose").fill("typo")
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Prepare a bonus").click()
    question = page.get_by_role("dialog", name="Prepare?")
    expect(question).to_contain_text("150.00 GBP is more than the study's reward of 4.50 GBP")
    expect(question.get_by_role("button", name="Prepare", exact=True)).to_be_visible()
    clean(page)
    question.get_by_role("button", name="Cancel").click()
    expect(question).to_have_count(0)
    expect(dialog.get_by_role("button", name="Prepare a bonus")).to_be_visible()
    expect(dialog).not_to_contain_text("150.00 GBP is more")
    page.get_by_label("Bonus for each").fill("1.50")
    press(page, "Cancel")


def pay_a_bonus_whose_answer_is_lost(page: Page, prolific: Prolific) -> None:
    prolific.faults.due.append(Fault("broken after", "/pay/"))
    page.get_by_role("button", name="Pay thanks").click()
    page.get_by_role("dialog").get_by_role("button", name="Pay", exact=True).click()
    expect(page.get_by_role("dialog").get_by_role("alert")).to_contain_text("500")
    press(page, "Cancel")
    # The server looks by itself, and may have seen it paid by now.
    unknown = page.get_by_text("not known whether this is paid")
    seen = page.get_by_label("Bonuses").get_by_text("Paid: seen at Prolific.")
    expect(unknown.or_(seen)).to_be_visible()
    press(page, "Sync with Prolific")
    expect(seen).to_be_visible()


def test_a_study_is_published_filled_paid_and_closed(
    browser: Browser, page: Page, phone: Page, prolific_stage: Stage, prolific: Prolific, tmp_path: Path
) -> None:
    publish(page, prolific_stage)
    platform = prolific.platform
    (study,) = platform.studies
    by_person = five_come(browser, prolific, study)
    press(page, "Sync with Prolific")
    release_both(page)
    ann, bob = by_person["PID-ann"], by_person["PID-bob"]
    press(page, f"Approve {ann}")
    expect(page.get_by_text(re.compile("^Approved by"))).to_be_visible()
    decide(page, [bob], "Pay in part", **{"Per cent": "50", "to the participant": "A chatbot failed."})
    expect(page.get_by_text("Paid in part (50 %) by")).to_be_visible()
    # 4.50 + 2.25 + 0.50, with a fee of 2.42 and a tax of 0.48
    expect(page.get_by_text("Cost so far 10.15 GBP")).to_be_visible()
    table = page.get_by_role("group", name="Submissions")
    assert table.evaluate("box => box.scrollWidth - box.clientWidth") == 0  # no pay is cut off at 1280
    prepare_too_much_and_think_again(page, ann)
    decide(page, [ann, bob], "Prepare a bonus", **{"Bonus for each": "1.50", "Purpose": "thanks"})
    expect(page.get_by_text("Nothing is paid yet")).to_be_visible()
    pay_a_bonus_whose_answer_is_lost(page, prolific)
    paid = {one: (platform.submission(one).paid, platform.submission(one).bonuses) for one in (ann, bob)}
    assert paid == {ann: (450, [150]), bob: (225, [150])}
    confirm(page, "Close study")
    expect(page.get_by_text("Closed, awaiting review")).to_be_visible()
    desk(phone, prolific_stage, f"runs/{RUN}/recruiting")
    expect(phone.get_by_text("Closed, awaiting review")).to_be_visible()
    clean(phone)
    assert phone.evaluate("document.documentElement.scrollWidth") == 360
    desk(page, prolific_stage, f"runs/{RUN}")
    bundle = downloaded_bundle(page, RUN, tmp_path)
    assert_same_numbers(bundle, f"sqlite:///{prolific_stage.database}", RUN, tmp_path)


def test_a_run_that_names_no_platform_leads_to_one_that_recruits(
    page: Page, prolific_stage: Stage, prolific: Prolific
) -> None:
    before = set(prolific.platform.studies)
    study_without_a_platform(page, prolific_stage)
    run_opened(page, "uncharted")
    open_tab(page, "Recruiting")
    expect(page.get_by_role("heading", name="Choose a platform")).to_be_visible()
    clean(page)
    page.get_by_role("main").get_by_role("link", name="study").click()
    page.get_by_role("link", name="harbour").click()
    step(page, "Recruiting and payment")
    page.get_by_label("Where workers come from").select_option("prolific")
    code = page.get_by_label("Completion code")
    expect(code).to_have_value(re.compile(r"^[A-Za-z0-9_-]{8,64}$"))
    given = code.input_value()
    expect(page.get_by_role("status").filter(has_text="Unsaved changes")).to_contain_text("no problems")
    clean(page)
    run_opened(page, "charted")
    open_tab(page, "Recruiting")
    draft(page)
    confirm(page, "Publish for up to 32.90 GBP", "Publish")
    expect(page.get_by_text("Active", exact=True)).to_be_visible()
    (made,) = set(prolific.platform.studies) - before
    assert given in {each["code"] for each in prolific.platform.study(made).given["completion_codes"]}
    desk(page, prolific_stage, "runs/uncharted/recruiting")
    press(page, "Open a run on Prolific")
    page.wait_for_url("**/desk/runs/uncharted-prolific/recruiting")
    expect(page.get_by_role("heading", name="Plan the study on Prolific")).to_be_visible()
