"""Studies on the desk, in a real browser: from a blank page to a run, and what can go wrong on the way."""

import re
from base64 import b64encode

import pytest
import yaml
from playwright.sync_api import Page, expect

from server.study import DEMO
from tests.e2e.axe import clean
from tests.e2e.hands import press
from tests.e2e.stage import Stage
from tests.e2e.studies import call, desk, made, step

pytestmark = pytest.mark.browser


def text_of(page: Page, stage: Stage, name: str) -> str:
    return str(call(page, stage, "GET", f"/studies/{name}")["yaml"])


def test_a_study_from_a_blank_page_to_a_run(page: Page, stage: Stage) -> None:
    desk(page, stage, "studies")
    press(page, "New study")
    clean(page)
    page.get_by_label("Name").fill("demo")
    press(page, "Create the study")
    expect(page.get_by_role("alert").filter(has_text="A study named “demo” exists already")).to_be_visible()
    page.get_by_label("Name").fill("seaside")
    press(page, "Create the study")
    expect(page.get_by_role("heading", name="seaside")).to_be_visible()
    page.get_by_label("Title").fill("Chats by the sea")
    step(page, "Recruiting and payment")
    page.get_by_label("Payment").fill("A postcard.")
    step(page, "Consent and texts")
    page.get_by_label("Consent text").fill("You may stop at any time.")
    page.get_by_text("Advanced").first.click()
    page.get_by_label("Version of the consent form").fill("2026-11")
    step(page, "Bots")
    page.get_by_label("Systems per worker").fill("1")
    press(page, "Add system")
    page.get_by_label("Name", exact=True).fill("shell")
    page.get_by_label("Family").fill("shell")
    page.get_by_label("Bot", exact=True).fill("reflect")
    expect(page.get_by_text("There is no bot “reflect”; did you mean “builtin:reflect”?")).to_be_visible()
    page.get_by_label("Bot", exact=True).fill("builtin:reflect")
    step(page, "Quality control")
    page.get_by_label("Quality-control conversations per worker").fill("0")
    unsaved = page.get_by_role("status").filter(has_text="Unsaved changes")
    expect(unsaved).to_contain_text("no problems, 1 note")
    notes = page.get_by_role("list", name="What you should know before you open a run")
    expect(notes).to_contain_text("No worker can be tested")
    clean(page)
    step(page, "Consent and texts")
    frame = page.frame_locator("iframe")
    expect(frame.get_by_text("You may stop at any time.")).to_be_visible()
    press(page, "Open a run")
    page.get_by_label("Name of the run").fill("beach")
    page.get_by_text(re.compile("^Rules")).click()
    page.get_by_label("Workers at the same time").fill("7")
    clean(page)
    press(page, "Open the run")
    page.wait_for_url("**/desk/runs/beach")
    expect(page.get_by_text("7 slots open")).to_be_visible()
    text = text_of(page, stage, "seaside")
    assert text.startswith("# A study with the published instrument")  # comments stay
    written = yaml.safe_load(text)
    assert written["systems"] == [{"name": "shell", "family": "shell", "bot": "builtin:reflect"}]
    assert written["texts"]["consent"]["text"] == "You may stop at any time."


def test_a_field_complains_of_being_empty_once_it_was_left(page: Page, stage: Stage) -> None:
    call(page, stage, "POST", "/studies", {"name": "bay", "begin_with": "blank"})
    desk(page, stage, "studies/bay")
    empty = page.get_by_text("This must not be empty", exact=True)
    expect(page.get_by_text("1 field to fill in", exact=True)).to_be_visible()
    expect(empty).to_have_count(0)
    expect(page.get_by_role("button", name="Open a run")).to_have_attribute("aria-disabled", "true")
    page.get_by_label("Title").focus()
    page.get_by_label("Minutes").focus()
    expect(empty).to_have_count(1)
    step(page, "Recruiting and payment")
    expect(empty).to_have_count(0)
    step(page, "Review")  # where everything is told
    expect(page.get_by_text("Payment: This must not be empty")).to_be_visible()
    clean(page)
    page.get_by_role("link", name="Recruiting and payment").click()
    page.wait_for_url("**/desk/studies/bay/recruiting")
    expect(empty).to_have_count(1)
    page.go_back()
    expect(page.get_by_role("heading", name="Review", exact=True)).to_be_visible()


def test_a_registered_bot_is_found_from_any_study(page: Page, stage: Stage) -> None:
    made(page, stage, "finding")
    call(page, stage, "POST", "/bots", {"name": "gull", "endpoint": {"kind": "dial-in"}})
    desk(page, stage, "studies/finding")
    page.get_by_role("tab", name="Bots").click()
    expect(page.get_by_role("heading", name="Registered, not in this study")).to_be_visible()
    clean(page)
    call(page, stage, "POST", "/bots", {"name": "heron", "endpoint": {"kind": "dial-in"}})
    page.reload()
    page.get_by_role("tab", name="Bots").click()
    press(page, "Remove heron")
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(page.get_by_text("heron")).to_have_count(0)
    press(page, "Evaluate gull")
    expect(page.get_by_role("heading", name="Registered, not in this study")).to_have_count(0)
    press(page, "Save")
    expect(page.get_by_role("status").filter(has_text="Version 2")).to_be_visible()
    system = yaml.safe_load(text_of(page, stage, "finding"))["systems"][-1]
    assert system == {"name": "gull", "family": "gull", "bot": "gull"}


def test_what_is_typed_as_yaml_is_in_the_form_and_undone_in_both(page: Page, stage: Stage) -> None:
    made(page, stage, "both_ways")
    page.get_by_role("tab", name="YAML").click()
    area = page.get_by_label("The study as YAML")
    area.fill(area.input_value().replace("minimum_inputs: 10", "minimum_inputs: ten"))
    step(page, "Task and topic")
    expect(page.get_by_label("Minimum messages")).to_have_value("ten")
    mistake = page.get_by_role("button", name=re.compile("Line 10"))
    expect(mistake).to_contain_text("Enter a whole number from 1 to 100")
    mistake.click()
    chosen = "e => e.value.slice(e.selectionStart, e.selectionEnd)"
    assert area.evaluate(chosen) == "minimum_inputs: ten"
    page.get_by_role("tab", name="Preview").click()
    expect(page.get_by_text("Placeholders or earlier values")).to_contain_text("for Minimum messages.")
    press(page, "Instructions")
    expect(page.frame_locator("iframe").get_by_text("10 messages")).to_be_visible()
    press(page, "Undo")
    expect(page.get_by_label("Minimum messages")).to_have_value("10")
    page.get_by_label("Minimum messages").press("Control+Shift+z")
    expect(page.get_by_label("Minimum messages")).to_have_value("ten")
    page.get_by_role("tab", name="YAML").click()
    area.fill(f"version: 7\n{area.input_value()}")
    newer = page.get_by_role("button", name=re.compile("^Line 1 "))
    expect(newer).to_contain_text("This study is written for a later version of Candor")
    expect(page.get_by_role("button", name="Open a run")).to_have_attribute("aria-disabled", "true")


def test_the_second_of_two_is_shown_what_the_first_has_changed(page: Page, stage: Stage) -> None:
    made(page, stage, "shared")
    text = text_of(page, stage, "shared")
    theirs = {"yaml": text.replace("six chatbots", "some chatbots"), "based_on": 1}
    call(page, stage, "PUT", "/studies/shared", theirs)
    step(page, "Recruiting and payment")
    page.get_by_label("Payment").fill("Five shells.")
    page.get_by_label("Payment").press("Control+s")
    expect(page.get_by_role("heading", name="Somebody else has saved this study")).to_be_visible()
    expect(page.get_by_text("title: Chat with some chatbots")).to_be_visible()
    clean(page)
    press(page, "Back to my text")
    assert text_of(page, stage, "shared") == theirs["yaml"]  # nothing was overwritten
    press(page, "Save")
    press(page, "Save mine after theirs")
    expect(page.get_by_role("status").filter(has_text="Version 3")).to_be_visible()


def test_leaving_with_changes_is_asked_about_and_loses_nothing(page: Page, stage: Stage) -> None:
    made(page, stage, "leaving")
    page.get_by_label("Title").fill("Chats that stay")
    expect(page.get_by_role("status").filter(has_text="Unsaved changes")).to_be_visible()
    page.get_by_role("link", name="Runs").click()
    expect(page.get_by_role("heading", name="Leave without saving?")).to_be_visible()
    press(page, "Leave")
    expect(page.get_by_role("heading", name="Runs")).to_be_visible()
    page.go_back()
    expect(page.get_by_label("Title")).to_have_value("Chats that stay")
    press(page, "Discard them")
    expect(page.get_by_label("Title")).to_have_value("Chat with six chatbots")


def test_what_the_server_has_not_checked_yet_is_kept_like_all_else(page: Page, stage: Stage) -> None:
    made(page, stage, "unchecked")
    page.route("**/api/desk/study-check", lambda route: route.abort())
    page.get_by_label("Title").fill("Chats without a server")
    expect(page.get_by_text("The server can’t be reached.")).to_be_visible()
    press(page, "Save")  # nothing is saved that lacks the change
    expect(page.get_by_role("status").filter(has_text="Unsaved changes")).to_be_visible()
    page.get_by_role("link", name="Runs").click()
    press(page, "Leave")
    expect(page.get_by_role("heading", name="Runs")).to_be_visible()
    page.unroute("**/api/desk/study-check")
    page.go_back()
    expect(page.get_by_label("Title")).to_have_value("Chats without a server")
    expect(page.get_by_text("You left this page with unsaved changes.")).to_be_visible()
    press(page, "Save")
    expect(page.get_by_role("status").filter(has_text="Version 2")).to_be_visible()
    assert yaml.safe_load(text_of(page, stage, "unchecked"))["title"] == "Chats without a server"


def test_what_is_left_while_the_server_checks_it_is_kept(page: Page, stage: Stage) -> None:
    made(page, stage, "slow")
    page.route("**/api/desk/study-check", lambda route: None, times=1)  # never answered
    with page.expect_request("**/api/desk/study-check"):
        page.get_by_label("Title").fill("Chats in flight")
    page.get_by_label("Minutes").fill("25")
    page.get_by_role("link", name="Runs").click()
    press(page, "Leave")
    expect(page.get_by_role("heading", name="Runs")).to_be_visible()
    page.go_back()
    expect(page.get_by_label("Title")).to_have_value("Chats in flight")
    expect(page.get_by_label("Minutes")).to_have_value("25")


def test_what_was_changed_a_moment_ago_is_undone_first_and_can_be_done_again(
    page: Page, stage: Stage
) -> None:
    made(page, stage, "hasty")
    title = page.get_by_label("Title")
    title.fill("Chats in haste")
    title.press("Control+z")
    expect(title).to_have_value("Chat with six chatbots")
    title.press("Control+Shift+z")
    expect(title).to_have_value("Chats in haste")


def test_what_was_undone_is_not_done_again_over_what_somebody_else_has_saved(
    page: Page, stage: Stage
) -> None:
    made(page, stage, "overtaken")
    page.get_by_label("Title").fill("Chats by me")
    press(page, "Save")
    expect(page.get_by_role("status").filter(has_text="Version 2")).to_be_visible()
    press(page, "Undo")
    expect(page.get_by_label("Title")).to_have_value("Chat with six chatbots")
    theirs = {"yaml": text_of(page, stage, "overtaken").replace("by me", "by them"), "based_on": 2}
    call(page, stage, "PUT", "/studies/overtaken", theirs)
    press(page, "Save")
    press(page, "Take theirs")
    expect(page.get_by_label("Title")).to_have_value("Chats by them")
    expect(page.get_by_role("button", name="Redo")).to_have_attribute("aria-disabled", "true")
    press(page, "Undo")
    expect(page.get_by_label("Title")).to_have_value("Chat with six chatbots")


def test_a_study_of_two_hundred_systems_on_a_phone(phone: Page, stage: Stage) -> None:
    content = yaml.safe_load(DEMO.read_text())
    content["name"] = "crowded"
    content["systems"] = [
        {"name": f"s{i}", "family": f"f{i % 40}", "bot": "builtin:reflect"} for i in range(200)
    ]
    del content["simulate"]
    made(phone, stage, "crowded", yaml.safe_dump(content, sort_keys=False))
    step(phone, "Bots")
    last = phone.get_by_role("button", name="s199 · f39 · builtin:reflect")
    last.click()
    phone.get_by_label("Family").fill("f0")
    expect(phone.get_by_role("button", name="s199 · f0 · builtin:reflect")).to_be_visible()
    assert phone.evaluate("document.documentElement.scrollWidth") <= 360
    press(phone, "Save")
    expect(phone.get_by_role("status").filter(has_text="Version 2")).to_be_visible()
    clean(phone)
    assert yaml.safe_load(text_of(phone, stage, "crowded"))["systems"][199]["family"] == "f0"


def test_what_was_opened_is_archived_and_what_was_not_is_deleted(page: Page, stage: Stage) -> None:
    made(page, stage, "mayfly")
    press(page, "More")
    page.get_by_role("menuitem", name="Delete").click()
    press(page.get_by_role("dialog"), "Delete")
    expect(page.get_by_role("heading", name="Studies")).to_be_visible()
    expect(page.get_by_role("heading", name="demo", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name="mayfly")).to_have_count(0)
    made(page, stage, "kept")
    press(page, "More")
    page.get_by_role("menuitem", name="Archive").click()
    expect(page.get_by_role("heading", name="kept archived")).to_be_visible()
    desk(page, stage, "studies")
    expect(page.get_by_role("link", name="kept")).to_have_count(0)
    page.get_by_role("button", name=re.compile("Show what is archived")).click()
    expect(page.get_by_role("link", name="kept")).to_be_visible()
    clean(page)


def test_to_archive_a_study_leaves_what_is_being_written_and_a_refusal_is_shown(
    page: Page, stage: Stage
) -> None:
    made(page, stage, "moth")
    page.get_by_label("Title").fill("Chats at night")
    expect(page.get_by_role("status").filter(has_text="Unsaved changes")).to_contain_text("no problems")
    press(page, "More")
    page.get_by_role("menuitem", name="Archive").click()
    expect(page.get_by_role("heading", name="moth archived")).to_be_visible()
    expect(page.get_by_role("status").filter(has_text="Unsaved changes")).to_contain_text("no problems")
    expect(page.get_by_label("Title")).to_have_value("Chats at night")
    headers = {"Authorization": f"Bearer {stage.token}"}
    assert page.request.delete(f"{stage.url}/api/desk/studies/moth", headers=headers).ok
    press(page, "More")
    page.get_by_role("menuitem", name="Take back from the archive").click()
    expect(page.get_by_role("alert").filter(has_text="There is no study named “moth”")).to_be_visible()


PAIRS = """\
name: pairs
title: Two chatbots side by side
payment: Nothing is paid.
task: side_by_side
comparison: {pairs: 3}
systems:
- {name: gull, family: gull, bot: "builtin:reflect", persona: none}
- {name: tern, family: tern, bot: "builtin:retrieval", persona: none}
"""


def test_two_chatbots_side_by_side_are_previewed_with_the_choice_between_them(
    page: Page, stage: Stage
) -> None:
    made(page, stage, "pairs", PAIRS)
    for shown in ("Instructions", "Topic", "Chat", "Choice", "Feedback", "Done"):
        expect(page.get_by_role("button", name=shown, exact=True)).to_be_visible()
    frame = page.frame_locator("iframe")
    press(page, "Chat")
    expect(frame.get_by_text("(The chatbot’s reply appears here.)")).to_have_count(2)
    expect(frame.get_by_text("(The other chatbot’s reply appears here.)")).to_have_count(2)
    press(page, "Choice")
    expect(frame.get_by_role("radio")).to_have_count(3)
    clean(page)


def test_a_logo_is_chosen_as_a_file_shown_and_removed(page: Page, stage: Stage) -> None:
    made(page, stage, "branded")
    step(page, "Consent and texts")
    page.get_by_text("Advanced", exact=True).last.click()
    page.locator("summary", has_text="Name and logo of your lab").click()
    lab = page.locator('[data-setting="texts.lab"]')
    lab.get_by_label("Name", exact=True).fill("Lab of Light")
    chooser = lab.get_by_label("Logo", exact=True)
    large = {"name": "wall.png", "mimeType": "image/png", "buffer": bytes(40_000)}
    chooser.set_input_files(large)  # type: ignore[arg-type]
    expect(lab.get_by_role("alert")).to_have_text("wall.png has 40 kB. Choose an image of at most 30 kB.")
    mark = b'<svg xmlns="http://www.w3.org/2000/svg" width="80" height="40"><path d="M0 0h80v40z"/></svg>'
    chooser.set_input_files({"name": "mark.svg", "mimeType": "image/svg+xml", "buffer": mark})
    expect(lab.get_by_role("img", name="Chosen now")).to_be_visible()
    expect(lab.get_by_role("alert")).to_have_count(0)
    shown = page.frame_locator("iframe").locator(".brand-logo")
    expect(shown).to_have_attribute("src", "data:image/svg+xml;base64," + b64encode(mark).decode())
    clean(page)
    press(page, "Remove image")
    expect(shown).to_have_count(0)
    expect(lab.get_by_role("img")).to_have_count(0)
