"""The page of a worker who reads and rates: a whole HIT, a refresh, a phone, the tutorial, an answer."""

import json
import re
import sqlite3
from collections import Counter
from contextlib import closing

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.axe import clean
from tests.e2e.hands import choose, press, rate
from tests.e2e.stage import Stage

pytestmark = pytest.mark.browser

VALUES = [70, 60, 20]


def begin(page: Page, stage: Stage, run: str) -> None:
    page.goto(f"{stage.url}/w/{run}")
    press(page, "I understand")


def at(page: Page, number: int, of: int = 20) -> None:
    expect(page.locator(".rating .kicker").first).to_have_text(f"Task {number} of {of}")


def submit(page: Page) -> None:
    press(page, re.compile("^Submit ratings"))


def stored(stage: Stage, query: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(stage.database)) as database:
        return database.execute(query).fetchall()


def test_a_whole_assignment_of_twenty_items_with_a_refresh_in_the_middle(page: Page, stage: Stage) -> None:
    begin(page, stage, "reading")
    for number in range(1, 21):
        at(page, number)
        expect(page.get_by_role("heading", name="Read this conversation")).to_be_focused()
        expect(page.locator(".item .bubble")).to_have_count(12)
        if number == 10:
            page.get_by_role("slider").first.fill("44")
            shown = page.locator(".item-lines").inner_text()
            page.reload()
            at(page, 10)
            assert page.locator(".item-lines").inner_text() == shown
            expect(page.get_by_role("slider").first).to_have_value("44")
        rate(page, VALUES)
        submit(page)
    press(page, re.compile("^(Send|Finish|Submit)"))
    expect(page.locator(".code-text")).to_be_visible()

    rated = stored(
        stage,
        "SELECT position, v1_item_rating.kind, twin_of, criterion, value "
        "FROM v1_item_rating JOIN v1_run USING (run_id) "
        "WHERE run = 'reading'",
    )
    assert {row[3:] for row in rated} == set(zip(["clear", "pleasant", "dull"], VALUES, strict=True))
    kinds = Counter(kind for _, kind, _, criterion, _ in rated if criterion == "clear")
    assert kinds == {"ordinary": 11, "bad": 6, "repeat": 3}
    assert {position for position, *_ in rated} == set(range(1, 21))


def test_no_way_back(page: Page, stage: Stage) -> None:
    begin(page, stage, "reading")
    at(page, 1)
    rate(page, VALUES)
    submit(page)
    at(page, 2)
    page.goto(f"{stage.url}/w/reading")
    at(page, 2)


def test_an_untouched_slider_is_no_answer(page: Page, stage: Stage) -> None:
    begin(page, stage, "reading")
    at(page, 1)
    rate(page, VALUES[:2])
    expect(page.get_by_text("1 still to answer")).to_be_visible()
    press(page, re.compile("^Submit ratings"))
    expect(page.get_by_text("Please answer this one, too.")).to_be_visible()
    at(page, 1)


@pytest.mark.parametrize("width", [360, 390])
def test_a_conversation_is_read_on_a_phone(browser: Browser, stage: Stage, width: int) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 844}, is_mobile=True, has_touch=True, locale="en-GB"
    )
    page = context.new_page()
    begin(page, stage, "reading")
    at(page, 1)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for bubble in page.locator(".item .bubble").all():
        box = bubble.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
    last = page.get_by_role("slider").last
    last.scroll_into_view_if_needed()
    expect(last).to_be_in_viewport()
    clean(page)
    context.close()


def test_the_tutorial_then_texts_that_are_improved(page: Page, stage: Stage) -> None:
    begin(page, stage, "improving")
    page.get_by_role("radio", name="Nothing").check()
    press(page, "Answer")
    expect(page.get_by_text("It says “sailed” twice.")).to_be_visible()
    page.reload()
    expect(page.get_by_text("It says “sailed” twice.")).to_be_visible()
    page.get_by_role("radio", name="A word is there twice").check()
    press(page, "Answer")
    at(page, 1, of=2)
    expect(page.get_by_role("status").filter(has_text="Right. It says “sailed” twice.")).to_be_visible()
    expect(page.get_by_text("The ferry to the island leaves at nine")).to_be_visible()
    box = page.get_by_label("Please improve the text")
    expect(box).to_have_count(0)
    rate(page, VALUES)
    expect(box).to_have_value(re.compile("leave at nine"))
    clean(page)
    submit(page)
    expect(page.get_by_text("Please change what could be better.")).to_be_visible()
    box.fill("good good good good")
    submit(page)
    expect(page.get_by_text("That doesn’t improve the text yet.")).to_be_visible()
    box.fill("The ferry leaves at nine and comes back in the evening.")
    page.reload()
    expect(box).to_have_value("The ferry leaves at nine and comes back in the evening.")
    submit(page)
    at(page, 2, of=2)
    rate(page, [95, 60, 20])
    expect(box).to_have_count(0)
    submit(page)
    expect(page.locator(".rating")).to_have_count(0)
    ((text, share),) = stored(stage, "SELECT edited_text, edit_share FROM v1_item_edit")
    assert text == "The ferry leaves at nine and comes back in the evening."
    assert isinstance(share, float)
    assert 0 < share < 1


def test_an_answer_is_judged_by_paragraphs(page: Page, stage: Stage) -> None:
    begin(page, stage, "judging")
    expect(page.get_by_role("heading", name="Judge this answer")).to_be_focused()
    choose(page, "Is the answer plausible?", "Yes")
    first, second = (page.get_by_role("listitem").filter(has_text=f"Paragraph {n} of 2") for n in (1, 2))
    first.get_by_role("radio", name="Neither").check()
    second.get_by_role("radio", name="It is correct").check()
    submit(page)
    expect(page.get_by_text("Please mark the words.")).to_be_visible()
    words = second.get_by_role("option")
    words.filter(has_text="forty").click()
    words.filter(has_text="minutes").click()
    page.reload()
    choose(
        page, "Look at your marks again. Are they about this answer, and not only about the question?", "Yes"
    )
    clean(page)
    submit(page)
    expect(page.locator(".rating")).to_have_count(0)
    ((evidence,),) = stored(stage, "SELECT text FROM v1_answer WHERE label = 'evidence'")
    mark = json.loads(str(evidence))
    assert (mark["line"], mark["category"]) == (1, "correct")
    shown = "The crossing takes forty minutes when the sea is calm."
    assert shown[mark["start"] : mark["end"]] == "forty minutes"
    rated = stored(
        stage,
        "SELECT criterion, value FROM v1_item_rating JOIN v1_run USING (run_id) WHERE run = 'judging'",
    )
    assert sorted(rated) == [("any_correct", 100), ("avg_correct", 100)]
