"""A student from SONA: the server asks for their credit, and the desk says why there is none."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest
import yaml
from playwright.sync_api import Page, expect

from server.recruiters.stand_in.serving import serving
from tests.e2e.axe import clean
from tests.e2e.hands import enter, finish, open_topic, press, rate, say
from tests.e2e.stage import RUNS, Stage, demo_study
from tests.e2e.studies import call, desk
from tests.server.support.sona import STUDY, SonaStandIn

pytestmark = pytest.mark.browser
RUN = "course"


@pytest.fixture(scope="module")
def sona() -> SonaStandIn:
    return SonaStandIn()


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory, sona: SonaStandIn) -> Iterator[Stage]:
    with serving(sona.app) as url:
        stage = Stage(tmp_path_factory.mktemp("credits"), sona_url=url)
        stage.start()
        yield stage
        stage.stop()


def again(stage: Stage) -> None:
    """Start the server anew: it asks as it starts, so that nobody waits for its next look.

    The one before ends at once, as if killed, and keeps the lease of this for its half a minute.
    """
    stage.stop()
    with closing(sqlite3.connect(stage.database)) as database, database:
        database.execute("DELETE FROM job_lease")
    stage.start()


def test_a_credit_that_is_not_granted_is_shown_and_asked_for_again(
    page: Page, phone: Page, stage: Stage, sona: SonaStandIn
) -> None:
    small = {key: value for key, value in RUNS["platform"].items() if key != "completion_url"}
    study = demo_study(**small) | {"recruiter": STUDY | {"credit": "server"}}
    opened = {"run": RUN, "yaml": yaml.safe_dump(study, sort_keys=False), "despite_failing_bots": True}
    call(page, stage, "POST", "/runs", opened)
    enter(phone, f"{stage.url}/w/{RUN}?survey_code=4711")
    open_topic(phone)
    say(phone, "I bake bread.")
    finish(phone)
    rate(phone, [70, 80, 60, 50, 40, 30, 20])
    press(phone, "Submit ratings")
    press(phone, "Submit")
    expect(phone.locator(".code-text")).to_be_visible()
    expect(phone.get_by_role("link")).to_have_count(0)  # to SONA they need not go
    again(stage)
    desk(phone, stage, f"runs/{RUN}/recruiting")
    shown = phone.get_by_label("Credits")
    expect(shown.get_by_text("SONA says: Invalid survey_code ….")).to_be_visible()
    expect(shown.get_by_text("0 of 1 who have submitted have their credit.")).to_be_visible()
    clean(phone)
    assert phone.evaluate("document.documentElement.scrollWidth") == 360
    sona.students.add("4711")
    press(phone, "Ask again for 1")
    phone.get_by_role("dialog").get_by_role("button", name="Ask again for 1", exact=True).click()
    expect(phone.get_by_role("dialog")).to_have_count(0)
    again(stage)
    desk(page, stage, f"runs/{RUN}/recruiting")
    expect(page.get_by_text("1 of 1 who have submitted have their credit.")).to_be_visible()
    assert sona.credited == ["4711"]
