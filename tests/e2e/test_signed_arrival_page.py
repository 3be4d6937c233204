"""A worker whose address Prolific has signed, in a browser: comes, loads the page again, is told why not."""

import re
from datetime import timedelta

import pytest
import yaml
from playwright.sync_api import Browser, Page, expect

from server.clock import utc_now
from server.recruiters.stand_in.serving import address_of
from tests.e2e.axe import clean
from tests.e2e.hands import context_of
from tests.e2e.stage import RUNS, Stage, demo_study
from tests.e2e.studies import call
from tests.server.support.prolific import Prolific
from tests.server.support.recruiting import PLAN

pytestmark = pytest.mark.browser
RUN = "signed"


def publish(page: Page, stage: Stage) -> None:
    """Publish a German study that takes signed arrivals only."""
    recruiter = {"kind": "prolific", "completion_code": "C1AB2CD3", "signed": True}
    changes = RUNS["platform"] | {"completion_url": None, "language": "de", "recruiter": recruiter}
    text = yaml.safe_dump(demo_study(**changes), sort_keys=False)
    call(page, stage, "POST", "/runs", {"run": RUN, "yaml": text, "despite_failing_bots": True})
    call(page, stage, "POST", f"/runs/{RUN}/recruitment", PLAN)
    call(page, stage, "POST", f"/runs/{RUN}/recruitment/publish")


def test_a_signed_arrival_goes_on_in_its_browser_and_in_no_other(
    browser: Browser, page: Page, prolific_stage: Stage, prolific: Prolific
) -> None:
    publish(page, prolific_stage)
    platform = prolific.platform
    (study,) = platform.studies
    worker = context_of(browser, 360).new_page()
    worker.goto(f"{prolific.url}/studies/{study}/take-part?as=PID-ann")
    consent = worker.get_by_role("button", name="Verstanden")
    expect(consent).to_be_visible()
    assert "prolific_token=" in worker.url
    (found,) = platform.of_study(study)
    address = address_of(platform.study(study).given["external_study_url"], found)
    late = prolific.signer.signed(address, found, utc_now() - timedelta(minutes=3))
    worker.goto(late)
    expect(consent).to_be_visible()
    other = context_of(browser, 360).new_page()
    told = other.get_by_text("nur wenige Minuten gültig")
    for refused, expired in ((late, 1), (address, 0), (worker.url.replace("PID-ann", "PID-bob"), 1)):
        other.goto(refused)
        expect(other.get_by_role("heading", name=re.compile("Link"))).to_be_visible()
        expect(told).to_have_count(expired)
        clean(other)


def test_who_finds_a_run_paused_has_a_way_back_to_the_platform(
    browser: Browser, page: Page, prolific_stage: Stage, prolific: Prolific
) -> None:
    run = "resting"
    recruiter = {"kind": "prolific", "completion_code": "C1AB2CD3"}
    changes = RUNS["platform"] | {"completion_url": None, "recruiter": recruiter}
    text = yaml.safe_dump(demo_study(**changes), sort_keys=False)
    call(page, prolific_stage, "POST", "/runs", {"run": run, "yaml": text, "despite_failing_bots": True})
    call(page, prolific_stage, "POST", f"/runs/{run}/pause")
    worker = context_of(browser, 360).new_page()
    worker.goto(f"{prolific_stage.url}/w/{run}?PROLIFIC_PID=5f3a&STUDY_ID=s&SESSION_ID=v1")
    expect(worker.get_by_text("please return the study on Prolific")).to_be_visible()
    assert worker.get_by_role("link", name="Go back now").get_attribute("href") == prolific.url
    clean(worker)
