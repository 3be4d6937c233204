"""The worker's page where something is in its way: no site data, an odd address, a proxy."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.chromium import BROWSERS, FLAGS
from tests.e2e.hands import enter, open_topic, press, say
from tests.e2e.stage import Stage
from tests.needs import need_programs
from tests.support.local_process import free_port
from tests.support.waiting import wait_until

pytestmark = pytest.mark.browser

NO_COOKIES = {"profile": {"default_content_setting_values": {"cookies": 2}}}


@pytest.fixture
def forgetful(browser: Browser, tmp_path: Path) -> Iterator[Page]:
    """A page of a browser that blocks all cookies, and with them storage and locks."""
    settings = tmp_path / "Default" / "Preferences"
    settings.parent.mkdir()
    settings.write_text(json.dumps(NO_COOKIES))
    path = next(filter(None, map(shutil.which, BROWSERS)))
    context = browser.browser_type.launch_persistent_context(tmp_path, executable_path=path, args=FLAGS)
    yield context.new_page()
    context.close()


def test_a_browser_that_blocks_all_cookies_takes_one_place_also_over_a_reload(
    forgetful: Page, stage: Stage
) -> None:
    before = stage.assignments("short")
    forgetful.goto(f"{stage.url}/w/short")
    expect(forgetful.get_by_text("Your browser doesn’t save anything from this page.")).to_be_visible()
    refused = "() => { try { localStorage.length; return null } catch (error) { return error.name } }"
    assert forgetful.evaluate(refused) == "SecurityError"
    press(forgetful, "I understand")
    forgetful.get_by_label("Your topic").fill("Bread")
    forgetful.reload()
    expect(forgetful.get_by_label("Your topic")).to_have_value("Bread")
    open_topic(forgetful, None)
    say(forgetful, "I bake bread.")
    assert stage.assignments("short") == before + 1


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("worker=${e://Field/ResponseID}", "“worker=${e://Field/ResponseID}”"),
        ("worker=A&worker=B", "two different workers"),
        ("worker=A&Worker=B", "two different workers"),
        ("worker=%00", "We can’t read part of it"),
    ],
)
def test_an_address_that_names_nobody_is_answered_by_a_page_that_says_why(
    page: Page, stage: Stage, query: str, words: str
) -> None:
    page.goto(f"{stage.url}/w/short?{query}")
    expect(page.get_by_role("heading", name="This link doesn’t work")).to_be_visible()
    expect(page.get_by_text(words)).to_be_visible()


def test_what_cannot_be_drawn_takes_nothing_else_along(page: Page, stage: Stage) -> None:
    """A part of the chat that throws: the screen says so, *Leave* works, and the run has an incident."""
    enter(page, f"{stage.url}/w/short?worker=undrawn")
    open_topic(page)
    # The chat watches its log's size: a browser in which that fails stands for whatever may throw.
    page.add_init_script("delete window.ResizeObserver")
    with page.expect_request("**/api/page-trouble"):
        page.reload()
    expect(page.get_by_role("heading", name="This part of the page can’t be shown")).to_be_visible()
    noted = "SELECT kind FROM note WHERE kind = 'page_not_drawn'"
    wait_until(lambda: stage.rows(noted) != [], "the incident")
    press(page, "Leave the study")
    expect(page.get_by_role("dialog")).to_be_visible()


# ---- behind a proxy ----------------------------------------------------------------------------

_UPGRADE = (
    "proxy_http_version 1.1; proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection upgrade;"
)


@pytest.fixture(scope="module")
def below_a_path(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Stage, str]]:
    """A server below a path of an nginx; and the address of another nginx, which passes on no WebSocket."""
    need_programs("nginx")
    folder = tmp_path_factory.mktemp("nginx")
    port, port_without = free_port(), free_port()
    stage = Stage(tmp_path_factory.mktemp("below"), public_url=f"http://127.0.0.1:{port}/candor")
    stage.start()
    temporary = "".join(
        f"{kind}_temp_path {folder / kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    sites = "".join(
        f"server {{ listen 127.0.0.1:{each}; location /candor/ {{ proxy_pass {stage.own_url}/; {upgrade}"
        " proxy_set_header Host $http_host; } }"
        for each, upgrade in ((port, _UPGRADE), (port_without, ""))
    )
    user = "user root;" if os.geteuid() == 0 else ""
    (folder / "nginx.conf").write_text(
        f"daemon off; {user} pid {folder / 'pid'}; error_log {folder / 'error.log'}; events {{}}"
        f" http {{ access_log off; {temporary} {sites} }}"
    )
    process = subprocess.Popen(["nginx", "-c", str(folder / "nginx.conf"), "-p", str(folder)])
    yield stage, f"http://127.0.0.1:{port_without}/candor"
    process.terminate()
    process.wait()
    stage.stop()


def test_a_worker_takes_part_below_a_path(page: Page, below_a_path: tuple[Stage, str]) -> None:
    stage, _ = below_a_path
    page.goto(f"{stage.url}/")
    page.get_by_role("link", name="Take part").first.click()
    expect(page.locator("button.button-primary")).to_be_visible()
    enter(page, f"{stage.url}/w/short?worker=below")
    open_topic(page)
    say(page, "I bake bread.")
    assert stage.assignments("short") == 1


def test_the_desk_is_used_below_a_path(page: Page, below_a_path: tuple[Stage, str]) -> None:
    stage, _ = below_a_path
    page.goto(f"{stage.url}/desk#token={stage.token}")
    page.get_by_role("link", name="Studies", exact=True).click()
    expect(page).to_have_url(f"{stage.url}/desk/studies")
    page.goto(f"{stage.url}/desk/runs/short/settings")
    expect(page.get_by_role("link", name=f"{stage.url}/w/short")).to_be_visible()
    page.goto(f"{stage.url}/preview")  # as the study's page frames it
    assert page.title() == "Preview – Candor"
    page.goto(f"{stage.url}/api/docs")
    expect(page.get_by_role("heading", name="The researcher’s API")).to_be_visible()
    assert page.evaluate("document.styleSheets.length") == 1


def test_a_proxy_that_passes_on_no_websocket_is_told_of(page: Page, below_a_path: tuple[Stage, str]) -> None:
    _, without = below_a_path
    page.goto(f"{without}/w/short?worker=blocked")
    expect(page.get_by_role("heading", name="The connection is blocked")).to_be_visible()
