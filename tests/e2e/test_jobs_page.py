"""A report, an export and a rehearsal from the desk, in a real browser: begun, watched, read, given up."""

import re
import zipfile
from collections.abc import Iterator

import pytest
import yaml
from playwright.sync_api import Page, expect

from qc.loading import load
from tests.e2e.axe import clean
from tests.e2e.studies import open_tab
from tests.support.orchard import STUDY
from tests.support.server_process import Server
from tests.support.waiting import ENOUGH

pytestmark = pytest.mark.browser
JOB = ENOUGH * 1_000  # milliseconds until a job has ended: a process that loads all that it needs


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with a run that six simulated workers have rated."""
    running = Server(tmp_path_factory.mktemp("candor"))
    study = running.data / "orchard.yaml"
    simulated = {"quality": {"apple": 0.7, "pear": 0.4, "quince": 0.5}}
    study.write_text(yaml.safe_dump(STUDY | {"simulate": simulated}))
    running.open_run(study, "spring")
    running.start()
    crowd = running.crowd("spring", "--workers", "6")
    said, _ = crowd.communicate()
    assert crowd.returncode == 0, said
    yield running
    running.stop()


def at(page: Page, server: Server, place: str) -> None:
    page.goto(f"{server.url}/desk/runs/spring/{place}#token={server.token}")


def fits(page: Page) -> None:
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_a_report_is_made_and_read(page: Page, phone: Page, server: Server) -> None:
    page.goto(f"{server.url}/desk/runs/spring#token={server.token}")
    open_tab(page, "Report")
    page.get_by_text("Options").click()
    page.get_by_label("Level α").fill("1.5")
    expect(page.get_by_text("Give a number from 0.0001 to 0.9999.")).to_be_visible()
    page.get_by_label("Level α").fill("0.5")
    clean(page)
    page.get_by_role("button", name="Make a report").click()
    expect(page.get_by_role("progressbar", name="The report")).to_be_visible()
    frame = page.frame_locator("iframe")
    expect(frame.get_by_role("heading", name="Verdict")).to_be_visible(timeout=JOB)
    assert frame.locator("body").evaluate("() => getComputedStyle(document.body).fontFamily") != ""
    with page.expect_download() as download:
        page.get_by_role("link", name="Everything").click()
    assert download.value.suggested_filename == "report.zip"
    expect(page.get_by_text("α 0.5")).to_be_visible()
    clean(page)
    at(phone, server, "report")
    expect(phone.locator("iframe")).to_be_visible()
    fits(phone)
    with phone.expect_download() as download:
        phone.get_by_role("link", name="Paper kit").click()
    assert "scores.tex" in zipfile.ZipFile(download.value.path()).namelist()
    phone.get_by_role("button", name="New report").click()
    buttons = phone.get_by_role("dialog").get_by_role("button")
    expect(buttons).to_have_text(["Cancel", "Make a report"])
    boxes = [box for box in (button.bounding_box() for button in buttons.all()) if box]
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= 360 for box in boxes)


def test_a_run_is_exported_and_another_export_given_up(page: Page, phone: Page, server: Server) -> None:
    page.goto(f"{server.url}/desk/runs/spring#token={server.token}")
    open_tab(page, "Settings")
    page.get_by_label("CSV").check()
    clean(page)
    page.get_by_role("button", name="Export", exact=True).click()
    expect(page.get_by_role("progressbar", name="The export")).to_be_visible()
    page.reload()
    file = page.get_by_role("link", name="spring.csv.zip")
    expect(file).to_be_visible(timeout=JOB)
    with page.expect_download() as download:
        file.click()
    assert len(load(download.value.path()).assignments) == 6
    page.get_by_label("Bundle").check()
    page.get_by_role("button", name="Export", exact=True).click()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("cancelled")).to_be_visible()
    expect(page.get_by_role("progressbar")).to_have_count(0)
    clean(page)
    at(phone, server, "export")
    expect(phone.get_by_role("link", name="spring.csv.zip")).to_be_visible()
    fits(phone)


def test_a_rehearsal_is_held(page: Page, phone: Page, server: Server) -> None:
    at(page, server, "rehearsal")
    page.get_by_label("Simulated workers").fill("12")
    page.get_by_label("Planned number of workers").fill("80")
    page.get_by_label("Pay per assignment").fill("1,5")
    page.get_by_label("Platform fee (%)").fill("25")
    clean(page)
    page.get_by_role("button", name="Rehearse").click()
    question = page.get_by_role("dialog", name="Rehearse?")
    # The run's study is the demo, whose bots are all builtin.
    expect(question.get_by_role("row").last).to_contain_text("free")
    clean(page)
    question.get_by_role("button", name="Rehearse").click()
    expect(page.get_by_role("progressbar", name="The rehearsal")).to_be_visible()
    expect(page.get_by_role("heading", name="Forecast for 80 people")).to_be_visible(timeout=JOB)
    expect(page.get_by_text("150.00").first).to_be_visible()  # 80 × 1.50, and a quarter more
    expect(page.get_by_text("no evidence about systems")).to_be_visible()
    clean(page)
    expect(page.get_by_label("Planned number of workers")).to_have_value("80")
    expect(page.get_by_role("img", name=re.compile("^Chance to tell .* with the planned 80"))).to_be_visible()
    at(phone, server, "rehearsal")
    expect(phone.get_by_role("heading", name="Forecast for 80 people")).to_be_visible()
    fits(phone)
    page.goto(f"{server.url}/desk")
    expect(page.get_by_role("heading", name="Runs")).to_be_visible()
    expect(page.get_by_text("spring").first).to_be_visible()
    expect(page.get_by_text("orchard-rehearsal")).to_have_count(0)
