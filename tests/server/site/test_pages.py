"""The start page and the API's page: what they say, to whom, and that they load nothing from elsewhere."""

import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urljoin

import httpx2
import pytest

from server.app import api_schema
from tests.server.support.database import execute, make_run
from tests.server.support.server import House
from tests.server.support.study import SYSTEMS, study_text

Serve = Callable[..., House]
REPOSITORY = Path(__file__).parents[3]
SITE_CSS = REPOSITORY / "server/site/static/site.css"
TOKENS_CSS = REPOSITORY / "frontend/src/design/tokens.css"


def start(house: House) -> str:
    answer = house.http("GET", "/")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'self'" in answer.headers["content-security-policy"]
    return answer.text


def test_a_listed_study_can_be_found(url: str, serve: Serve) -> None:
    house = serve(url, make_run(url, study_text(listed=True, payment="Tea & biscuits."), slug="harbour"))
    page = start(house)
    assert "A few chats" in page
    assert "Tea &amp; biscuits." in page
    assert 'href="./w/harbour"' in page
    assert 'href="./desk"' in page
    for system, family in SYSTEMS.items():
        assert system not in page
        assert family not in page


def test_titles_are_escaped(url: str, serve: Serve) -> None:
    page = start(serve(url, make_run(url, study_text(listed=True, title='<script>"x"</script>'))))
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


def test_a_study_is_not_listed_unless_it_says_so(url: str, serve: Serve) -> None:
    page = start(serve(url, make_run(url, study_text(), slug="harbour")))
    assert "harbour" not in page
    assert "No study is listed here" in page


def test_a_run_that_is_closed_meanwhile_is_not_listed(url: str, serve: Serve) -> None:
    house = serve(url, make_run(url, study_text(listed=True), slug="harbour"))
    assert '"./w/harbour"' in start(house)
    execute(url, "UPDATE run SET status = 'closed'")
    assert "/w/harbour" not in start(house)


def test_a_run_that_was_opened_after_the_start_is_not_listed(url: str, serve: Serve) -> None:
    """Nobody could join it before the server is started again."""
    house = serve(url, make_run(url, study_text(listed=True), slug="one"))
    make_run(url, study_text(listed=True), slug="two")
    assert "/w/two" not in start(house)


def loaded(page: str) -> list[str]:
    """Return the addresses that a page has the browser load."""
    return re.findall(r'<(?:link|script|img)[^>]*(?:href|src)="([^"]+)"', page)


@pytest.mark.parametrize("path", ["/", "/api/docs"])
def test_what_a_page_loads_is_here(shared: House, path: str) -> None:
    addresses = loaded(shared.http("GET", path).text)
    assert len(addresses) >= 2
    for address in addresses:
        assert "/static/" in address
        assert not address.startswith("/")  # a proxy may serve us below a path
        assert shared.http("GET", urljoin(path, address)).status_code == 200


def inline(page: str) -> list[str]:
    """Return what the content security policy would stop: scripts, styles and handlers within the page."""
    return re.findall(r"<style|<script>| style=| on\w+=", page)


@pytest.mark.parametrize("path", ["/", "/api/docs"])
def test_nothing_is_inline(shared: House, path: str) -> None:
    assert inline(shared.http("GET", path).text) == []


def test_the_schema_is_for_researchers(shared: House) -> None:
    assert shared.http("GET", "/api/openapi.json").json()["error"]["code"] == "token_missing"
    bearer = {"Authorization": f"Bearer {shared.auth.researcher_token}"}
    assert shared.http("GET", "/api/openapi.json", headers=bearer).json() == api_schema()


def test_the_page_of_the_api_says_nothing_by_itself(shared: House) -> None:
    answer: httpx2.Response = shared.http("GET", "/api/docs")
    assert answer.status_code == 200
    assert "/api/desk" not in answer.text


def test_a_person_at_an_unknown_address_reads_a_page(shared: House) -> None:
    browser = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
    answer = shared.http("GET", "/some/where", headers=browser)
    assert answer.status_code == 404
    assert "This page doesn’t exist" in answer.text
    assert 'href="../"' in answer.text
    assert shared.http("GET", "/some/where").json()["error"]["code"] == "http_error"


def colours(path: Path) -> list[dict[str, str]]:
    """Return the variables of a style sheet: by day, by night."""
    text = path.read_text(encoding="utf-8")
    day, night = text.split("@media (prefers-color-scheme: dark)", 1)
    return [dict(re.findall(r"(--[\w-]+):\s*([^;]+);", part)) for part in (day, night)]


def test_the_colours_are_those_of_the_other_pages() -> None:
    for mine, theirs in zip(colours(SITE_CSS), colours(TOKENS_CSS), strict=True):
        assert mine
        assert mine.items() <= theirs.items()


@pytest.mark.parametrize("path", ["/w/pilot", "/w/nowhere", "/desk", "/"])
def test_no_page_is_shown_within_other_sites(shared: House, path: str) -> None:
    policy = shared.http("GET", path).headers["content-security-policy"]
    assert policy.split("; ")[-1] == "frame-ancestors 'none'"
    assert {"base-uri 'none'", "form-action 'self'"} <= set(policy.split("; "))
