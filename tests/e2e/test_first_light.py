"""The main job, end to end: a worker's whole assignment in a browser, and the report that reads it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from playwright.sync_api import Page, expect

from tests.e2e.hands import LINES, enter, finish, open_topic, press, rate, say
from tests.e2e.stage import DEMO, RUNS, Stage
from tests.e2e.studies import call
from tests.support.waiting import ENOUGH

# test_whole_way goes the same way with shorter conversations, test_worker_kept loads the page anew.
pytestmark = [pytest.mark.browser, pytest.mark.soak]
RATINGS = [40, 60, 70, 55, 65, 30, 75]


def test_a_worker_finishes_an_assignment_and_the_report_shows_it(
    page: Page, stage: Stage, tmp_path: Path
) -> None:
    quick = {"reply_time": RUNS["demo"]["reply_time"]}
    text = yaml.safe_dump(yaml.safe_load(DEMO.read_text(encoding="utf-8")) | quick, sort_keys=False)
    call(page, stage, "POST", "/runs", {"run": "light", "yaml": text, "despite_failing_bots": True})
    enter(page, f"{stage.url}/w/light?worker=first-light")
    for k in range(1, 7):
        open_topic(page, f"Topic {k}")
        for index, line in enumerate(LINES):
            if (k, index) == (2, 4):
                page.reload()
                expect(page.get_by_text("Messages 4 of 10")).to_be_visible()
                expect(page.locator(".bubble-bot:not(.bubble-typing)")).to_have_count(4)
            say(page, line)
        finish(page)
        ratings = [value + k for value in RATINGS]
        rate(page, ratings[:3])
        if k == 4:
            page.reload()
            expect(page.locator(".slider-thumb")).to_have_count(3)
        rate(page, ratings)
        press(page, "Submit ratings" if k == 6 else "Submit ratings and continue")
    press(page, "Submit")
    expect(page.get_by_text("Your completion code")).to_be_visible()

    command = [sys.executable, "-m", "qc.report", f"sqlite:///{stage.database}", "--run", "light"]
    subprocess.run([*command, "--out", str(tmp_path)], check=True, capture_output=True, timeout=ENOUGH)
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["workers"]["total"] == 1
    # Six conversations, one of them with the quality-control bot, which does not count.
    assert report["conversations"]["total"] == 5
