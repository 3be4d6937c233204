"""CloudResearch Connect and SONA in a browser: arrival, the same place after any break, the way back."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml
from playwright.sync_api import Browser, Page, Route, expect

from server.recruiters.stand_in.serving import serving
from tests.e2e.axe import clean
from tests.e2e.hands import context_of, enter, finish, open_topic, press, rate, say
from tests.e2e.stage import CONNECT, RUNS, Stage, demo_study
from tests.e2e.studies import call
from tests.server.support.sona import STUDY, SonaStandIn

pytestmark = pytest.mark.browser
CREDIT = "https://tide.sona-systems.com/webstudy_credit.aspx?experiment_id=12&credit_token=9a8b&survey_code="


SHORT = {"completion_url": None, "systems_per_assignment": 2, "qc_per_assignment": 1}
BEST, WORST = [0, 100, 100, 100, 100, 0, 100], [100, 0, 0, 0, 0, 100, 0]


@dataclass(frozen=True)
class Platform:
    """A platform as a worker knows it: `came`, `again` are addresses, of one person and two visits.

    `done`: where who has finished is sent; `partial`: where who leaves. None: nowhere.
    """

    run: str
    recruiter: dict[str, Any] = field(repr=False)
    came: str
    again: str
    other: str
    done: str | None
    partial: str | None = None


PLATFORMS = [
    Platform(
        "connect",
        CONNECT,
        "participantId=P9&assignmentId=A1&projectId=X",
        "participantId=P9&assignmentId=A2&projectId=X",
        "participantId=P10&assignmentId=A3&projectId=X",
        "https://connect.example/complete",
        "https://connect.example/partial",
    ),
    Platform("sona-browser", STUDY, "survey_code=41", "survey_code=41", "survey_code=42", f"{CREDIT}41"),
    Platform(
        "sona-server",
        STUDY | {"credit": "server"},
        "survey_code=51",
        "survey_code=51",
        "survey_code=52",
        None,
    ),
]


@pytest.fixture(scope="module")
def sona() -> SonaStandIn:
    return SonaStandIn(students={"51", "52"})


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory, sona: SonaStandIn) -> Iterator[Stage]:
    with serving(sona.app) as url:
        stage = Stage(tmp_path_factory.mktemp("platforms"), sona_url=url)
        stage.start()
        yield stage
        stage.stop()


def newcomer(browser: Browser, visited: list[str], width: int = 360) -> Page:
    """Return a page of a new browser; what it asks of the platforms' own sites is noted, and answered."""
    context = context_of(browser, width)

    def answer(route: Route) -> None:
        visited.append(route.request.url)
        route.fulfill(body="<!doctype html><html lang='en'><title>Back</title><h1>Back</h1></html>")

    for site in ("https://connect.example/**", "https://tide.sona-systems.com/**"):
        context.route(site, answer)
    return context.new_page()


def lose_the_connection(page: Page) -> None:
    page.context.set_offline(True)
    page.evaluate("window.dispatchEvent(new Event('offline'))")
    page.context.set_offline(False)


def at_every_phase(page: Page, address: str) -> None:
    """Go as far as the rating; at each phase the page is loaded again, and its connection lost."""
    agree = page.get_by_role("button", name="I understand")
    page.goto(address)
    for break_off in (page.reload, lambda: lose_the_connection(page)):
        expect(agree).to_be_visible()
        break_off()
    agree.click()
    for break_off in (page.reload, lambda: lose_the_connection(page)):
        expect(page.get_by_role("button", name="Start the conversation")).to_be_visible()
        break_off()
    open_topic(page)
    say(page, "I bake bread.")
    for break_off in (page.reload, lambda: lose_the_connection(page)):
        expect(page.get_by_text("I bake bread.")).to_be_visible()
        break_off()
    finish(page)
    page.reload()
    expect(page.get_by_role("slider").first).to_be_attached()


def reported(stage: Stage, run: str, out: Path) -> dict[str, Any]:
    """Return the report on a run."""
    command = [
        sys.executable,
        "-m",
        "qc.report",
        str(stage.database),
        "--run",
        run,
        "--only",
        "context",
    ]
    options = ["--out", str(out), "--format", "json"]
    done = subprocess.run([*command, *options], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr + done.stdout
    found: dict[str, Any] = json.loads((out / "report.json").read_text())
    return found


@pytest.mark.parametrize(
    "platform",
    # `sona-server` only credits in another way, which test_credits_page has; `connect` has other addresses.
    [
        pytest.param(each, id=each.run, marks=[pytest.mark.soak] * (each.run != "sona-browser"))
        for each in PLATFORMS
    ],
)
def test_one_finishes_after_every_break_and_one_leaves(
    platform: Platform, browser: Browser, page: Page, stage: Stage, sona: SonaStandIn, tmp_path: Path
) -> None:
    changes = RUNS["platform"] | SHORT | {"recruiter": platform.recruiter}
    text = yaml.safe_dump(demo_study(**changes), sort_keys=False)
    call(page, stage, "POST", "/runs", {"run": platform.run, "yaml": text, "despite_failing_bots": True})
    visited: list[str] = []
    address = f"{stage.url}/w/{platform.run}?"
    first = newcomer(browser, visited)
    at_every_phase(first, address + platform.came)
    first.context.close()
    # In another browser, by another visit: the same person, and the same place.
    second = newcomer(browser, visited)
    second.goto(address + platform.again)
    expect(second.get_by_role("slider").first).to_be_attached()
    rate(second, BEST)
    press(second, "Submit ratings and continue")
    for values, button in ((WORST, "Submit ratings and continue"), (BEST, "Submit ratings")):
        open_topic(second)
        say(second, "I like tea.")
        finish(second)
        rate(second, values)
        press(second, button)
    press(second, "Submit")
    expect(second.locator(".code-text")).to_be_visible()
    clean(second)
    links = second.get_by_role("link")
    expect(links).to_have_count(0 if platform.done is None else 1)
    if platform.done is not None:
        links.click()
        expect(second.get_by_role("heading", name="Back")).to_be_visible()
    leaver = newcomer(browser, visited)
    enter(leaver, address + platform.other)
    press(leaver, "Leave")
    press(leaver, "Leave the study")
    expect(leaver.get_by_role("heading", name="You have left the study")).to_be_visible()
    if platform.partial is not None:
        leaver.get_by_role("link").click()
        expect(leaver.get_by_role("heading", name="Back")).to_be_visible()
    assert visited == [place for place in (platform.done, platform.partial) if place is not None]
    of_run = "FROM assignment a JOIN run r ON r.id = a.run_id WHERE r.slug = ?"
    statuses = stage.rows(f"SELECT a.status, count(*) {of_run} GROUP BY a.status", platform.run)
    assert sorted(statuses) == [("completed", 1), ("returned", 1)]
    second.context.close()
    leaver.context.close()
    found = reported(stage, platform.run, tmp_path / "report")
    assert (found["assignments"]["total"], found["conversations"]["total"]) == (1, 2)
    scores = [system["raw"] for system in found["systems"] if system["n"]]
    assert scores == [100.0, 100.0]  # what BEST is, once the two negative criteria are turned round


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize(
    ("run", "parameters", "way"),
    [
        ("screening_connect", "participantId=P{0}&assignmentId=A{0}&projectId=X", CONNECT["partial_url"]),
        ("screening_sona", "survey_code={0}", None),
    ],
)
def test_who_does_not_pass_the_test_questions_is_sent_back_and_gets_no_credit(
    run: str, parameters: str, way: str | None, width: int, browser: Browser, stage: Stage, sona: SonaStandIn
) -> None:
    visited: list[str] = []
    page = newcomer(browser, visited, width)
    address = f"{stage.url}/w/{run}?{parameters.format(width)}"
    page.goto(address)
    press(page, "I understand")
    for _ in range(2):  # one mistake is allowed
        page.get_by_role("radio", name="Nothing").check()
        press(page, "Answer")
        expect(page.get_by_text(re.compile("It says “sailed” twice.|You have left"))).to_be_visible()
    ended = page.get_by_role("heading", name="You have left the study")
    expect(ended).to_be_visible()
    clean(page)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    expect(page.locator(".code-text")).to_have_count(0)
    # The same after a refresh, and in another visit: no second try.
    page.reload()
    expect(ended).to_be_visible()
    page.goto(address)
    expect(ended).to_be_visible()
    links = page.get_by_role("link")
    expect(links).to_have_count(0 if way is None else 1)
    if way is not None:
        links.click()
        expect(page.get_by_role("heading", name="Back")).to_be_visible()
    assert visited == ([] if way is None else [way])
    page.context.close()
    assert str(width) not in sona.credited
    of_run = "FROM assignment a JOIN run r ON r.id = a.run_id WHERE r.slug = ?"
    assert stage.rows(f"SELECT DISTINCT a.status {of_run}", run) == [("returned",)]
