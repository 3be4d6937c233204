"""Tests of the first and the last screens of the worker's page: the consent, the lab's logo, the code."""

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.axe import clean_in_both_colours
from tests.e2e.hands import finish, open_topic, press, rate, say
from tests.e2e.stage import Stage

pytestmark = pytest.mark.browser


def test_consent_comes_first_and_the_code_before_all_else_at_the_end(phone: Page, stage: Stage) -> None:
    phone.set_viewport_size({"width": 360, "height": 640})
    asked: list[str] = []
    phone.on("request", lambda request: asked.append(request.url))
    phone.goto(f"{stage.url}/w/board?worker=orderly")
    expect(phone.get_by_role("heading", level=1, name="Your consent")).to_be_focused()
    expect(phone.locator(".brand")).to_have_text("Lab of Light")
    drawn = "image => image.decode().then(() => image.naturalWidth > 0)"
    assert phone.locator(".brand-logo").evaluate(drawn)
    expect(phone).to_have_title("Welcome – Lab of Light")
    expect(phone.get_by_role("button", name="I consent")).to_have_count(0)
    expect(phone.locator("[aria-invalid]")).to_have_count(0)  # nothing is wrong before anything was done
    clean_in_both_colours(phone)
    press(phone, "I agree and take part")
    expect(phone.get_by_text("Please tick this to take part.")).to_have_count(2)
    expect(phone.get_by_label("You may store what I write.")).to_be_focused()
    phone.get_by_label("You may store what I write.").check()
    phone.get_by_label("I am at least 18 years old.").check()
    press(phone, "I agree and take part")
    expect(phone.get_by_role("heading", level=1, name="Welcome")).to_be_focused()
    assert stage.assignments("board") == 0  # nothing is stored before the instructions are read
    phone.reload()
    expect(phone.get_by_role("heading", level=1, name="Welcome")).to_be_visible()
    clean_in_both_colours(phone)
    press(phone, "I consent")
    open_topic(phone)
    say(phone, "I bake bread.")
    finish(phone)
    press(phone, "Submit ratings")
    # What is missing is counted once, beside the button.
    expect(phone.get_by_text("7 still to answer")).to_have_count(1)
    rate(phone, [50] * 7)
    press(phone, "Submit ratings")
    press(phone, "Submit")
    expect(phone.locator(".code-text")).to_be_in_viewport(ratio=1)
    code, debriefing = phone.locator(".code").bounding_box(), phone.get_by_text("What this was about")
    below = debriefing.bounding_box()
    assert code is not None
    assert below is not None
    assert code["y"] + code["height"] < below["y"]
    clean_in_both_colours(phone)
    stored = stage.rows(
        "SELECT consent_version, consent_ticked FROM assignment WHERE consent_version IS NOT NULL"
    )
    assert len(stored) == 1
    assert stored[0][0] == "1.2"
    assert "age" in stored[0][1]
    assert all(url.startswith((stage.url, "data:")) for url in asked)
