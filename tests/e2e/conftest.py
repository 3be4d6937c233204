from collections.abc import Iterator
from itertools import count

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.chromium import launch
from tests.e2e.hands import context_of
from tests.e2e.stage import Stage
from tests.server.support.prolific import Prolific, served_prolific
from tests.support.waiting import PATIENCE


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """This folder's browser. Not the session's: while it is open, no other test could run an event loop."""
    expect.set_options(timeout=PATIENCE * 1_000)
    with sync_playwright() as playwright:
        browser = launch(playwright)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    stage = Stage(tmp_path_factory.mktemp("stage"))
    stage.start()
    yield stage
    stage.stop()


@pytest.fixture(scope="module")
def prolific() -> Iterator[Prolific]:
    """The stand-in. What was asked of it in the module, and what it answered, is as specified."""
    with served_prolific() as served:
        yield served
    assert served.contract.broken == []


@pytest.fixture(scope="module")
def prolific_stage(tmp_path_factory: pytest.TempPathFactory, prolific: Prolific) -> Iterator[Stage]:
    """A server that recruits on the stand-in."""
    addresses = {"prolific_api": prolific.url, "prolific_site": prolific.url}
    stage = Stage(tmp_path_factory.mktemp("recruiting"), prolific_token=prolific.token, **addresses)
    stage.start()
    yield stage
    stage.stop()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = context_of(browser, 1280)
    yield context.new_page()
    context.close()


@pytest.fixture
def worker(browser: Browser) -> Iterator[Page]:
    """A worker's page beside `page`, in a window of its own.

    Of two tabs of one window only the one in front is drawn in time: a click in the other takes seconds.
    """
    context = context_of(browser, 1280)
    yield context.new_page()
    context.close()


@pytest.fixture
def phone(browser: Browser) -> Iterator[Page]:
    context = context_of(browser, 360)
    yield context.new_page()
    context.close()


@pytest.fixture(scope="module")
def workers() -> Iterator[int]:
    return count()


@pytest.fixture
def link(stage: Stage, workers: Iterator[int]) -> str:
    """The link of a worker who was never here, to a run of three conversations of two inputs each."""
    return f"{stage.url}/w/short?worker=test-{next(workers)}"
