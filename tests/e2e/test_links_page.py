"""Personal links from the desk: a list becomes links, and a link leads one worker to one place."""

import csv
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.axe import clean
from tests.e2e.hands import context_of, enter, press
from tests.e2e.stage import Stage
from tests.e2e.studies import desk

pytestmark = pytest.mark.browser
RUN = "short"


def test_a_list_becomes_links_and_each_leads_to_one_place(
    browser: Browser, phone: Page, stage: Stage, tmp_path: Path
) -> None:
    desk(phone, stage, f"runs/{RUN}/recruiting")
    part = phone.get_by_label("Personal links", exact=True)
    part.get_by_label("Worker ids").fill("ann\nbob\nann")
    press(phone, "Save links as CSV")
    expect(part.get_by_role("alert")).to_contain_text("line 3: the worker “ann” is in line 1 already")
    clean(phone)
    assert phone.evaluate("document.documentElement.scrollWidth") == 360
    listed = tmp_path / "workers.csv"
    listed.write_text("worker,mail\nann,a@example.org\nbob,b@example.org\n")
    part.get_by_label("Or a file of ids").set_input_files(listed)
    expect(part.locator(".complaint")).to_be_empty()
    with phone.expect_download() as download:
        press(phone, "Save links as CSV")
    assert download.value.suggested_filename == f"{RUN}-links.csv"
    expect(part.get_by_text("Links saved.")).to_be_visible()
    rows = csv.DictReader(Path(download.value.path()).read_text().splitlines())
    links = {row["worker"]: row["link"] for row in rows}
    assert list(links) == ["ann", "bob"]
    first, second = (context_of(browser, 360) for _ in range(2))
    enter(first.new_page(), links["ann"])
    again = second.new_page()
    again.goto(links["ann"])
    expect(again.get_by_role("button", name="Start the conversation")).to_be_visible()
    of_ann = "SELECT count(*) FROM assignment a JOIN worker w ON w.id = a.worker_id WHERE w.pseudonym = ?"
    assert stage.rows(of_ann, stage.pseudonym("ann")) == [(1,)]
    again.goto(links["ann"].replace("worker=ann", "worker=cay"))
    expect(again.get_by_role("heading", name="Link")).to_be_visible()
    first.close()
    second.close()
