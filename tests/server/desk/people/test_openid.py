"""Signing in with an OpenID provider: a real one on this machine, honest and otherwise."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest

from server.bots.lineup import OpenRun
from server.config import Settings
from tests.server.support.database import make_run, query
from tests.server.support.server import House
from tests.support.openid_provider import CLIENT, SECRET, OpenIdProvider, serving
from tests.support.waiting import PATIENCE

Serve = Callable[..., House]


@pytest.fixture(scope="module")
def provider() -> Iterator[OpenIdProvider]:
    with serving() as provider:
        yield provider


@pytest.fixture(scope="module")
def house(
    provider: OpenIdProvider, migrated: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[House]:
    folder = tmp_path_factory.mktemp("openid")
    (folder / "candor.db").write_bytes(migrated.read_bytes())
    url = f"sqlite:///{folder / 'candor.db'}"
    with_it = {"oidc_issuer": provider.issuer, "oidc_client_id": CLIENT, "oidc_client_secret": SECRET}
    house = House(url, [make_run(url)], folder, with_it | {"oidc_name": "the university"})
    house.start()
    house.desk("/people", method="POST", json={"name": "Bea@example.org", "role": "analyst"})
    yield house
    house.stop()


@pytest.fixture
def browser(house: House, provider: OpenIdProvider) -> Iterator[httpx2.Client]:
    """A browser; whatever the provider was told to do for the test before is forgotten."""
    provider.email, provider.says, provider.forged = "bea@example.org", {}, False
    with httpx2.Client(base_url=f"http://127.0.0.1:{house.port}", timeout=PATIENCE) as client:
        yield client


def back(browser: httpx2.Client, provider: OpenIdProvider) -> str:
    """Begin to sign in, and return the path at which the provider sends the browser back."""
    begun = browser.get("/api/account/openid")
    assert begun.status_code == 303
    assert begun.headers["location"].startswith(f"{provider.issuer}/authorize?")
    found = urlsplit(provider.back(begun.headers["location"]))
    return f"{found.path}?{found.query}"


def refusal(browser: httpx2.Client, path: str) -> str:
    """Come back; return why nobody is let in, in words."""
    answer = browser.get(path)
    page, _, reason = answer.headers["location"].partition("#refused=")
    assert (answer.status_code, page) == (303, "/desk")
    assert browser.get("/api/account").status_code == 401
    return str(browser.get("/api/account/ways-in", params={"refused": reason}).json()["refused"])


def test_somebody_who_was_invited_signs_in(
    house: House, browser: httpx2.Client, provider: OpenIdProvider
) -> None:
    assert browser.get("/api/account/ways-in").json() == {"provider": "the university", "refused": None}
    answer = browser.get(back(browser, provider))
    assert (answer.status_code, answer.headers["location"]) == (303, "/desk")
    account = browser.get("/api/account").json()
    assert (account["name"], account["roles"]) == ("bea@example.org", [{"study": None, "role": "analyst"}])
    assert not account["has_password"]
    change = {"old": "anything at all", "new": "seven small tides"}
    own_page = {"Origin": str(browser.base_url).rstrip("/")}
    refused = browser.put("/api/account/password", json=change, headers=own_page)
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "no_password")
    rows = query(house.url, "SELECT actor, detail FROM audit_entry WHERE action = 'person.sign_in'")
    assert rows == [("bea@example.org", "with the university")]


@pytest.mark.parametrize(
    ("says", "words"),
    [
        ({"nonce": "another"}, "belongs to another sign-in"),
        ({"exp": int(time.time()) - 3_600}, "answer has expired"),
        ({"aud": "somebody-else"}, "meant for another application"),
        ({"aud": [CLIENT, "other"], "azp": "other"}, "meant for another application"),
        ({"iss": "https://elsewhere.example"}, "meant for another application"),
        ({"email": "eve@example.org"}, "No account here has"),
        ({"email_verified": False}, "has not verified your e-mail address"),
        ({"exp": None}, "no valid signature"),
    ],
)
def test_an_answer_that_is_not_as_it_must_be(
    browser: httpx2.Client, provider: OpenIdProvider, says: dict[str, Any], words: str
) -> None:
    provider.says = says
    assert words in refusal(browser, back(browser, provider))


def test_an_answer_that_somebody_else_has_signed(browser: httpx2.Client, provider: OpenIdProvider) -> None:
    provider.forged = True
    assert "no valid signature" in refusal(browser, back(browser, provider))


def test_a_state_of_another_browser(browser: httpx2.Client, provider: OpenIdProvider) -> None:
    theirs = back(browser, provider)
    assert back(browser, provider) != theirs  # begun anew: the earlier one leads nowhere any more
    assert "started in another browser" in refusal(browser, theirs)
    browser.cookies.clear()
    assert "started in another browser" in refusal(browser, theirs)


def test_a_code_is_good_once_and_for_its_own_sign_in(
    browser: httpx2.Client, provider: OpenIdProvider
) -> None:
    path = back(browser, provider)
    provider.asked.clear()
    assert "does not accept its own code" in refusal(browser, path)
    asked = back(browser, provider)
    only = next(iter(provider.asked.values()))
    only["code_challenge"] = "of another verifier"
    assert "does not accept its own code" in refusal(browser, asked)


def test_who_gives_up_with_the_provider(browser: httpx2.Client, provider: OpenIdProvider) -> None:
    state = back(browser, provider).partition("state=")[2]
    path = f"/api/account/openid/callback?error=access_denied&state={state}"
    assert "was cancelled" in refusal(browser, path)


def test_without_a_provider_there_is_no_other_way_in(shared: House) -> None:
    assert shared.http("GET", "/api/account/ways-in").json() == {"provider": None, "refused": None}
    begun = shared.http("GET", "/api/account/openid")
    assert begun.headers["location"] == "/desk#refused=unreachable"


def test_settings_that_do_not_belong_together() -> None:
    with pytest.raises(ValueError, match="belong together"):
        Settings(oidc_issuer="https://id.example.org")
    with pytest.raises(ValueError, match="write one with https"):
        Settings(oidc_issuer="http://id.example.org", oidc_client_id="candor")


def test_below_a_path_the_browser_is_sent_to_the_desk_there(url: str, run: OpenRun, serve: Serve) -> None:
    """Without a provider every try is refused; what the browser kept of it is for that path, too."""
    house = serve(url, run, public_url="https://lab.example.org/candor/")
    answer = house.http("GET", "/api/account/openid")
    assert answer.headers["location"] == "/candor/desk#refused=unreachable"
    assert "path=/candor/api/account/openid" in answer.headers["set-cookie"].lower()
