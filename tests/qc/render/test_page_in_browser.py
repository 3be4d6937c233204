"""report.html, and the page of several runs, as a reader meets them in a browser and on paper."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, sync_playwright

from qc.analysis import AnalysisOptions
from qc.comparison.several_runs import set_side_by_side
from qc.render.findings import write_findings
from qc.render.findings.several_runs import several_runs_findings
from qc.sections.course.adherence import follow
from tests.chromium import launch
from tests.e2e.axe import violations
from tests.qc.support.analyses import NASTY, SYSTEMS, awkward_run, bare
from tests.qc.support.registrations import registration
from tests.qc.support.rendered import rendered


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = launch(playwright)
        yield browser
        browser.close()


@pytest.fixture
def report(text: str, tmp_path: Path) -> Path:
    path = tmp_path / "report.html"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def registered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page that says whether a preregistration was followed, of systems with names of any length."""
    hypotheses = [{"higher": SYSTEMS[2], "lower": SYSTEMS[1]}, {"higher": SYSTEMS[1], "lower": NASTY}]
    analysis = bare()
    followed = follow(analysis, registration(hypotheses=hypotheses, stopping="when all are complete"))
    path = tmp_path_factory.mktemp("registered") / "report.html"
    path.write_text(rendered(analysis.having(followed)), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def side_by_side(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of two runs, one with awkward names."""
    runs, options = [awkward_run(1), replace(awkward_run(2), name="second")], AnalysisOptions(bootstrap=100)
    found = several_runs_findings(set_side_by_side(runs, options), runs, options)
    directory = tmp_path_factory.mktemp("runs")
    write_findings(found, directory, frozenset({"html"}))
    return directory / "runs.html"


# No colour hangs on the width: each is looked at once. Axe takes most of six seconds, for 4,900 elements.
@pytest.mark.browser
@pytest.mark.parametrize(("width", "scheme"), [(360, "dark"), (1280, "light")])
def test_in_a_browser(browser: Browser, report: Path, width: int, scheme: Literal["light", "dark"]) -> None:
    check_in_a_browser(browser, report, width, scheme)


@pytest.mark.browser
@pytest.mark.parametrize("width", [360, 1280])
def test_what_was_registered_in_a_browser(browser: Browser, registered: Path, width: int) -> None:
    check_in_a_browser(browser, registered, width, within="#preregistration")


@pytest.mark.browser
@pytest.mark.parametrize("width", [360, 1280])
def test_runs_side_by_side_in_a_browser(browser: Browser, side_by_side: Path, width: int) -> None:
    check_in_a_browser(browser, side_by_side, width)


def check_in_a_browser(
    browser: Browser,
    report: Path,
    width: int,
    scheme: Literal["light", "dark"] = "light",
    within: str = ":root",
) -> None:
    """Check that a page is as wide as the window and asks for nothing, and axe passes what is `within`."""
    context = browser.new_context(
        viewport={"width": width, "height": 800}, is_mobile=width < 600, offline=True, color_scheme=scheme
    )
    troubles: list[str] = []
    context.on("console", lambda message: troubles.append(message.text))
    context.on("weberror", lambda error: troubles.append(str(error.error)))
    context.on(
        "request", lambda request: troubles.append(request.url) if request.url != report.as_uri() else None
    )
    opened = context.new_page()
    opened.goto(report.as_uri())
    opened.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    assert opened.evaluate("document.documentElement.scrollWidth") == width
    assert violations(opened, within) == []
    assert [trouble for trouble in troubles if not trouble.startswith("data:")] == []
    context.close()


@pytest.mark.browser
@pytest.mark.parametrize("width", [1280, 1600])
def test_tables_have_room_beside_the_contents(browser: Browser, report: Path, width: int) -> None:
    """The widest that the demo has, conversations that look pasted, takes 911 pixels."""
    opened = browser.new_page(viewport={"width": width, "height": 800})
    opened.goto(report.as_uri())
    assert opened.locator(".body").evaluate("body => body.clientWidth") >= 911 + 2
    opened.close()


@pytest.mark.browser
def test_on_paper_nothing_is_cut(browser: Browser, report: Path) -> None:
    # A4 less the margins of the style: 182 mm at 96 pixels an inch.
    width = int(182 / 25.4 * 96)
    context = browser.new_context(viewport={"width": width, "height": 1000})
    opened = context.new_page()
    opened.goto(report.as_uri())
    opened.emulate_media(media="print")
    assert opened.evaluate("document.documentElement.scrollWidth") == width
    assert opened.locator("#table-significance_holm").is_visible()
    context.close()
