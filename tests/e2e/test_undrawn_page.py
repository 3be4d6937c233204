"""Pages of the desk in browsers that know no language, or cannot draw a part: never a blank page."""

import json
import sqlite3
from contextlib import closing

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.stage import Stage

pytestmark = pytest.mark.browser

# What a browser started under LANG=C says its language is.
NO_LANGUAGE = "Object.defineProperty(Navigator.prototype, 'language', {get: () => 'C'})"


@pytest.fixture(scope="module", autouse=True)
def looks(stage: Stage) -> None:
    """Two looks at a run: after 20 ratings, and after 1,200."""
    with closing(sqlite3.connect(stage.database)) as database, database:
        [run] = database.execute("SELECT id FROM run WHERE slug = 'calm'").fetchone()
        for ratings, half in ((20, 0.5), (1_200, 0.1)):
            score = {"system": "reflect", "z": 0.2, "low": 0.2 - half, "high": 0.2 + half, "conversations": 9}
            database.execute(
                "INSERT INTO analysis_point (run_id, ratings, scores) VALUES (?, ?, ?)",
                (run, ratings, json.dumps([score])),
            )
        database.execute("INSERT INTO worker (platform, external_id, pseudonym) VALUES ('link', 'i', 'W1')")
        database.execute(
            """INSERT INTO assignment (id, run_id, worker_id, place, simulated, reply_pace, status,
                                       created_at, agreed_at, active_at, ended_at)
               SELECT 'a', ?, worker.id, 1, 0, 1, 'completed', at, at, at, at
               FROM (SELECT '2026-01-01 00:00:00.000000' AS at) JOIN worker ON pseudonym = 'W1'""",
            (run,),
        )


def open_run(page: Page, stage: Stage) -> None:
    page.goto(f"{stage.url}/desk/runs/calm#token={stage.token}")
    expect(page.get_by_role("heading", name="How the intervals narrow")).to_be_visible()


def test_a_browser_without_a_language_shows_the_desk_with_its_charts(page: Page, stage: Stage) -> None:
    page.add_init_script(NO_LANGUAGE)
    open_run(page, stage)
    assert page.locator(".chart").count() == 2  # the widest interval, and the one system
    expect(page.locator(".chart canvas")).to_have_count(2)


def test_a_chart_that_cannot_be_loaded_is_a_sentence_beside_its_table(page: Page, stage: Stage) -> None:
    page.route("**/assets/uPlot*.js", lambda route: route.abort())
    open_run(page, stage)
    expect(page.get_by_text("This chart cannot be drawn here.")).to_have_count(2)
    page.get_by_text("The same as a table").click()
    expect(page.get_by_role("row", name="1200")).to_contain_text("+0.20 (+0.10 to +0.30)")


def test_a_page_of_the_desk_that_cannot_be_drawn_leaves_the_rest_of_it(page: Page, stage: Stage) -> None:
    page.add_init_script("Date.prototype.toLocaleString = () => { throw new RangeError('no such locale') }")
    page.goto(f"{stage.url}/desk/runs/calm#token={stage.token}")
    expect(page.get_by_role("heading", name="This page could not be shown")).to_be_visible()
    expect(page.get_by_role("alert")).to_contain_text("RangeError: no such locale")
    page.get_by_role("link", name="Studies").click()
    expect(page.get_by_role("heading", name="Studies")).to_be_visible()
