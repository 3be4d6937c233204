"""People: invited, signed in, signed out, removed; over HTTP, as a browser does it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest
from argon2 import PasswordHasher
from argon2.profiles import CHEAPEST
from fastapi import Request, Response

from server.access import people as people_module
from server.access import sign_ins
from server.access.people import require, set_password
from server.clock import utc_now
from server.db.engine import open_engine
from server.db.store import Store
from server.desk.people.accounts import begin_sign_in
from server.errors import WrongPassword
from tests.server.support.database import query
from tests.server.support.server import House
from tests.support.waiting import PATIENCE

PASSWORD = "seven small tides"


@dataclass
class Browser:
    """A browser with its cookies, that says from which page it calls."""

    house: House
    origin: str | None = None

    def __post_init__(self) -> None:
        url = f"http://127.0.0.1:{self.house.port}"
        self.client = httpx2.Client(base_url=url, timeout=PATIENCE, verify=False)

    def send(self, method: str, path: str, **kwargs: Any) -> httpx2.Response:
        origin = self.origin or str(self.client.base_url).rstrip("/")
        return self.client.request(method, path, headers={"Origin": origin}, **kwargs)

    def sign_in(self, name: str, password: str = PASSWORD) -> httpx2.Response:
        return self.send("POST", "/api/account/sign-in", json={"name": name, "password": password})

    def status(self) -> int:
        return self.send("GET", "/api/account").status_code


@pytest.fixture(autouse=True)
def cheap_passwords(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spend little on each password: as it is in use, one takes tenths of a second of the processor."""
    monkeypatch.setattr(people_module, "hasher", PasswordHasher.from_parameters(CHEAPEST))


@pytest.fixture
def people(shared: House, someone: str) -> Iterator["People"]:
    people = People(shared, someone)
    yield people
    for browser in people.browsers:
        browser.client.close()


@dataclass
class People:
    """Somebody who was invited to the shared server, and their browsers."""

    house: House
    name: str

    def __post_init__(self) -> None:
        self.browsers: list[Browser] = []

    def browser(self, origin: str | None = None) -> Browser:
        self.browsers.append(Browser(self.house, origin))
        return self.browsers[-1]

    def invite(self, role: str = "researcher", study: str | None = None) -> str:
        """Invite them, and return the secret of their link."""
        body = {"name": self.name, "role": role, "study": study}
        answer = self.house.desk("/people", method="POST", json=body)
        assert answer.status_code == 201, answer.text
        return str(answer.json()["link"]).partition("#link=")[2]

    def signed_in(self, role: str = "researcher", study: str | None = None) -> Browser:
        browser = self.browser()
        body = {"link": self.invite(role, study), "password": PASSWORD}
        assert browser.send("PUT", "/api/account/link", json=body).status_code == 200
        return browser

    def log(self) -> list[str]:
        rows = self.house.desk(f"/audit?subject={self.name}").json()["entries"]
        return [row["action"] for row in reversed(rows)]


def code(answer: httpx2.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


def test_a_person_is_invited_chooses_a_password_and_signs_in_elsewhere(people: People) -> None:
    secret = people.invite("analyst", "lighthouse")
    first, second = people.browser(), people.browser()
    looked = first.send("POST", "/api/account/link", json={"link": secret})
    assert looked.json() == {"name": people.name}
    assert first.status() == 401
    account = first.send("PUT", "/api/account/link", json={"link": secret, "password": PASSWORD}).json()
    assert (account["kind"], account["name"]) == ("person", people.name)
    assert account["roles"] == [{"study": "lighthouse", "role": "analyst"}]
    assert {"read_transcripts", "see_worker_ids", "manage_people"} & set(account["permissions"]) == {
        "read_transcripts"
    }
    assert second.sign_in(people.name.upper()).status_code == 200
    assert (first.status(), second.status()) == (200, 200)
    assert people.log() == ["person.add", "person.password", "person.sign_in", "person.sign_in"]


def test_the_cookie_is_kept_from_scripts_and_from_other_sites(people: People) -> None:
    people.signed_in()
    cookie = people.browser().sign_in(people.name).headers["set-cookie"]
    parts = {part.strip().lower() for part in cookie.split(";")[1:]}
    assert {"httponly", "samesite=strict", "path=/", "max-age=43200"} <= parts
    assert "secure" not in parts  # this server speaks no TLS


def test_over_tls_the_cookie_goes_nowhere_else(people: People) -> None:
    """The server believes a proxy on its own machine that the page was asked for over TLS."""
    people.signed_in()
    browser = people.browser()
    headers = {"Origin": f"https://127.0.0.1:{people.house.port}", "X-Forwarded-Proto": "https"}
    body = {"name": people.name, "password": PASSWORD}
    cookie = browser.client.post("/api/account/sign-in", json=body, headers=headers).headers["set-cookie"]
    assert cookie.startswith("__Host-candor=")
    assert "; secure" in cookie.lower()


def test_nothing_that_opens_is_stored(people: People) -> None:
    secret = people.invite()
    browser = people.browser()
    browser.send("PUT", "/api/account/link", json={"link": secret, "password": PASSWORD})
    cookie = browser.client.cookies["candor"]
    kept = b"".join(path.read_bytes() for path in people.house.folder.glob("candor.db*"))
    assert people.name.encode() in kept  # so the files that were read are the ones that matter
    assert not any(text.encode() in kept for text in (secret, cookie, PASSWORD))
    stored = query(people.house.url, "SELECT password FROM person WHERE name = ?", people.name)
    assert stored[0][0].startswith("$argon2id$")


def test_a_link_works_once(people: People) -> None:
    browser, body = people.browser(), {"link": people.invite()}
    refused = browser.send("PUT", "/api/account/link", json=body | {"password": "short"})
    assert code(refused) == (400, "invalid_field")
    assert browser.send("PUT", "/api/account/link", json=body | {"password": PASSWORD}).status_code == 200
    again = browser.send("PUT", "/api/account/link", json=body | {"password": "another password"})
    assert code(again) == (403, "link_used")
    assert code(browser.send("POST", "/api/account/link", json=body)) == (403, "link_used")


def test_a_new_link_ends_the_one_before_and_a_new_password_every_sign_in(people: People) -> None:
    browser = people.signed_in()
    links = [people.house.desk(f"/people/{people.name}/link", method="POST").json()["link"] for _ in range(2)]
    first, second = (link.partition("#link=")[2] for link in links)
    body = {"link": first, "password": "another password"}
    assert code(browser.send("PUT", "/api/account/link", json=body)) == (403, "link_used")
    assert browser.status() == 200
    other = people.browser()
    assert other.send("PUT", "/api/account/link", json=body | {"link": second}).status_code == 200
    assert (browser.status(), other.status()) == (401, 200)
    assert code(browser.sign_in(people.name)) == (403, "wrong_password")


def test_a_wrong_name_and_a_wrong_password_look_alike(people: People) -> None:
    people.signed_in()
    wrong = people.browser().sign_in(people.name, "not my password")
    nobody = people.browser().sign_in(f"{people.name}-not", PASSWORD)
    assert code(wrong) == (403, "wrong_password")
    assert wrong.json() == nobody.json()


def test_somebody_without_a_password_cannot_sign_in(people: People) -> None:
    people.invite()
    for password in (PASSWORD, "None", " "):
        assert code(people.browser().sign_in(people.name, password)) == (403, "wrong_password")


def test_signing_out_here_and_everywhere(people: People) -> None:
    first = people.signed_in()
    second, third = people.browser(), people.browser()
    second.sign_in(people.name)
    third.sign_in(people.name)
    cookie = dict(first.client.cookies)
    assert first.send("POST", "/api/account/sign-out").status_code == 204
    assert "candor" not in first.client.cookies
    first.client.cookies.update(cookie)
    assert code(first.send("GET", "/api/account")) == (401, "not_signed_in")
    assert second.status() == 200
    assert second.send("POST", "/api/account/sign-out-everywhere").status_code == 204
    assert third.status() == 401


def test_another_password_signs_out_everybody_else(people: People) -> None:
    browser, other = people.signed_in(), people.browser()
    other.sign_in(people.name)
    body = {"old": "not this one", "new": "eight small tides"}
    assert code(browser.send("PUT", "/api/account/password", json=body)) == (403, "wrong_password")
    assert browser.send("PUT", "/api/account/password", json=body | {"old": PASSWORD}).status_code == 200
    assert (browser.status(), other.status()) == (200, 401)
    assert people.browser().sign_in(people.name, "eight small tides").status_code == 200


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "http://127.0.0.1:1", "null", "https://127.0.0.1:{port}"]
)
def test_another_sites_page_changes_nothing(people: People, origin: str) -> None:
    browser = people.signed_in("owner")
    browser.origin = origin.format(port=people.house.port)
    body = {"name": "mallory", "role": "owner"}
    assert code(browser.send("POST", "/api/desk/people", json=body)) == (403, "foreign_origin")
    assert code(browser.sign_in(people.name)) == (403, "foreign_origin")
    without = browser.client.post("/api/desk/people", json=body)
    assert code(without) == (403, "foreign_origin")
    browser.origin = None
    assert browser.send("GET", "/api/desk/people").status_code == 200


def test_a_page_behind_a_proxy_is_known_by_the_proxys_scheme_or_the_public_url(
    house: House, serve: Any
) -> None:
    """By the scheme if the proxy is trusted; by the public URL if it is not, and says nothing."""
    behind = serve(house.url, *house.runs, public_url="https://desk.example/candor")
    body = {"name": "ann", "password": PASSWORD}
    told = {"Host": "lab.example", "X-Forwarded-Proto": "https"}
    for origin, headers, expected in (
        ("https://lab.example", told, "wrong_password"),
        ("http://lab.example", told, "foreign_origin"),
        ("https://desk.example", {"Host": "inside:8000"}, "wrong_password"),
        ("http://desk.example", {"Host": "inside:8000"}, "foreign_origin"),
    ):
        answer = behind.http("POST", "/api/account/sign-in", json=body, headers={"Origin": origin, **headers})
        assert code(answer) == (403, expected), (origin, headers)


def test_who_is_removed_is_out_at_once(people: People) -> None:
    browser = people.signed_in()
    assert people.house.desk(f"/people/{people.name}", method="DELETE").status_code == 204
    assert code(browser.send("GET", "/api/desk/runs")) == (401, "not_signed_in")
    assert code(browser.sign_in(people.name)) == (403, "wrong_password")
    assert people.log()[-1] == "person.remove"


def test_a_role_is_changed_at_once(people: People) -> None:
    browser = people.signed_in("viewer", "lighthouse")
    assert browser.send("GET", "/api/desk/bots").status_code == 403
    change = {"role": "researcher", "study": "lighthouse"}
    row = people.house.desk(f"/people/{people.name}/role", method="PUT", json=change).json()
    assert row["roles"] == [{"study": "lighthouse", "role": "researcher"}]
    assert browser.send("GET", "/api/desk/bots").status_code == 200
    change["role"] = None  # type: ignore[assignment]
    answer = people.house.desk(f"/people/{people.name}/role", method="PUT", json=change)
    assert code(answer) == (400, "invalid_field")


def test_who_let_somebody_in_gets_nothing_of_what_others_give_them_later(people: People) -> None:
    """The owner of a study who has kept a link, or has chosen the password, would be an owner of all."""
    kept, role = people.invite("viewer", "lighthouse"), f"/people/{people.name}/role"
    more = people.house.desk(role, method="PUT", json={"role": "analyst", "study": "tidepool"}).json()
    late = people.browser().send("PUT", "/api/account/link", json={"link": kept, "password": PASSWORD})
    assert code(late) == (403, "link_used")
    browser, secret = people.browser(), more["link"].partition("#link=")[2]
    used = browser.send("PUT", "/api/account/link", json={"link": secret, "password": PASSWORD})
    assert used.status_code == 200
    less = people.house.desk(role, method="PUT", json={"role": "viewer", "study": "tidepool"}).json()
    assert (less["link"], less["has_password"], browser.status()) == (None, True, 200)
    owner = people.house.desk(role, method="PUT", json={"role": "owner"}).json()
    assert (owner["has_password"], browser.status()) == (False, 401)
    assert code(people.browser().sign_in(people.name)) == (403, "wrong_password")
    body = {"link": owner["link"].partition("#link=")[2], "password": "another small tide"}
    assert browser.send("PUT", "/api/account/link", json=body).status_code == 200
    people.house.desk(role, method="PUT", json={"role": "viewer"})
    again = people.house.desk(role, method="PUT", json={"role": "owner"}).json()
    assert (again["link"], browser.status()) == (None, 200)  # they were let in to all studies before


def test_a_new_password_ends_the_links_that_are_open(people: People) -> None:
    browser = people.signed_in("viewer")
    link = people.house.desk(f"/people/{people.name}/link", method="POST").json()["link"]
    change = {"old": PASSWORD, "new": "another small tide"}
    assert browser.send("PUT", "/api/account/password", json=change).status_code == 200
    body = {"link": link.partition("#link=")[2], "password": PASSWORD}
    assert code(people.browser().send("PUT", "/api/account/link", json=body)) == (403, "link_used")


async def test_nobody_signs_in_with_a_password_that_was_changed_meanwhile(people: People) -> None:
    """To look at a password takes tens of milliseconds, in which another may be chosen."""
    people.signed_in("viewer")
    store = Store(people.house.url)
    store.start()
    before = await store.read(lambda connection: require(connection, people.name))
    await store.submit(lambda connection: set_password(connection, before.id, "another's hash"))
    request, response = Request({"type": "http", "headers": []}), Response()
    with pytest.raises(WrongPassword):
        await begin_sign_in(store, before, request, response)
    assert "set-cookie" not in response.headers
    store.stop()


def test_there_is_an_owner_always(people: People) -> None:
    """Whoever is the only one can neither be removed nor made less."""
    people.signed_in("owner")
    others = [
        person["name"]
        for person in people.house.desk("/people").json()["people"]
        if person["name"] != people.name and {"study": None, "role": "owner"} in person["roles"]
    ]
    for name in others:
        assert people.house.desk(f"/people/{name}", method="DELETE").status_code == 204
    path = f"/people/{people.name}"
    less = {"role": "viewer"}
    assert code(people.house.desk(f"{path}/role", method="PUT", json=less)) == (409, "last_owner")
    assert code(people.house.desk(path, method="DELETE")) == (409, "last_owner")


def test_tokens_are_made_and_revoked_by_owners(people: People) -> None:
    owner = people.signed_in("owner")
    body = {"name": people.name, "scope": "viewer", "study": "lighthouse"}
    token = owner.send("POST", "/api/desk/tokens", json=body).json()["token"]
    assert people.house.desk("/runs", token).status_code == 200
    assert code(people.house.desk("/tokens", token)) == (403, "not_allowed")
    row = next(r for r in owner.send("GET", "/api/desk/tokens").json()["tokens"] if r["name"] == people.name)
    assert (row["scope"], row["study"], row["revoked_at"]) == ("viewer", "lighthouse", None)
    assert owner.send("DELETE", f"/api/desk/tokens/{people.name}").status_code == 204
    assert people.house.desk("/runs", token).status_code == 401


def test_tries_to_sign_in_are_limited(house: House, serve: Any) -> None:
    strict = serve(house.url, *house.runs, sign_ins="3/hour")
    browser = Browser(strict)
    answers = [browser.sign_in("ann", "a wrong password").status_code for _ in range(4)]
    assert answers == [403, 403, 403, 429]
    browser.client.close()


def test_who_knows_a_name_locks_nobody_out(house: House, serve: Any) -> None:
    """At most 3 tries an hour come from an address, and 60 of a name: 20 addresses at once block it."""
    strict = serve(house.url, *house.runs, sign_ins="3/hour")
    person = People(strict, "ann")
    known = person.signed_in("viewer")

    def guess(address: int) -> int:
        client = {"X-Forwarded-For": f"203.0.113.{address}"}
        headers = {"Origin": f"http://127.0.0.1:{strict.port}", **client}
        body = {"name": "ann", "password": "a wrong password"}
        return strict.http("POST", "/api/account/sign-in", json=body, headers=headers).status_code

    assert [guess(1) for _ in range(5)] == [403, 403, 403, 429, 429]
    elsewhere = Browser(strict)
    assert elsewhere.sign_in("ann").status_code == 200  # a browser that was never seen before
    assert [guess(address) for address in range(2, 22) for _ in range(3)].count(429) > 0
    assert guess(99) == 429
    assert known.sign_in("ann").status_code == 200
    for browser in (*person.browsers, elsewhere):
        browser.client.close()


def test_the_first_link_makes_an_owner_and_then_nobody(house: House) -> None:
    engine = open_engine(house.url, begin="BEGIN IMMEDIATE")
    with engine.begin() as connection:
        secret = sign_ins.new_link(connection, None, utc_now())
    browser = Browser(house)
    body = {"link": secret, "name": "ann", "password": PASSWORD}
    assert browser.send("POST", "/api/account/link", json={"link": secret}).json() == {"name": None}
    assert browser.send("PUT", "/api/account/link", json=body).json()["roles"] == [
        {"study": None, "role": "owner"}
    ]
    with engine.begin() as connection:
        late = sign_ins.new_link(connection, None, utc_now())
    engine.dispose()
    refused = browser.send("PUT", "/api/account/link", json=body | {"link": late, "name": "bob"})
    assert code(refused) == (403, "link_used")
    browser.client.close()


def test_an_owner_of_one_study_invites_to_it_and_to_no_other(people: People) -> None:
    study, other = (f"{sea}_{people.name.replace('-', '_')}" for sea in ("reef", "tide"))
    for name in (study, other):
        people.house.desk("/studies", method="POST", json={"name": name, "begin_with": "blank"})
    owner = people.signed_in("owner", study)
    assert owner.send("GET", "/api/desk/people").status_code == 403
    mine, new = f"/api/desk/studies/{study}/people", f"cay-{people.name}"
    made = owner.send("POST", mine, json={"name": new, "role": "analyst"})
    assert made.status_code == 201, made.text
    assert "#link=" in made.json()["link"]
    changed = owner.send("POST", mine, json={"name": new, "role": "viewer"}).json()
    assert (changed["role"], changed["link"]) == ("viewer", None)  # nobody's password can be taken over
    rows = owner.send("GET", mine).json()["people"]
    assert {row["name"]: row["role"] for row in rows} | {new: "viewer", people.name: "owner"} == {
        row["name"]: row["role"] for row in rows
    }
    theirs = f"/api/desk/studies/{other}/people"
    assert owner.send("POST", theirs, json={"name": new, "role": "viewer"}).status_code == 403
    people.house.desk(f"/people/{new}/role", method="PUT", json={"role": "viewer", "study": other})
    assert owner.send("DELETE", f"{mine}/{new}").status_code == 204
    everybody = people.house.desk("/people").json()["people"]
    assert [row["roles"] for row in everybody if row["name"] == new] == [[{"study": other, "role": "viewer"}]]
    assert code(owner.send("DELETE", f"{mine}/{new}")) == (404, "person_not_found")
    assert owner.send("POST", mine, json={"name": f"dot-{new}", "role": "viewer"}).status_code == 201
    assert owner.send("DELETE", f"{mine}/dot-{new}").status_code == 204  # it was their only study
    assert f"dot-{new}" not in [row["name"] for row in people.house.desk("/people").json()["people"]]


def test_an_owner_of_one_study_renews_a_link_of_their_own_people_only(people: People) -> None:
    study, other = (f"{sea}_{people.name.replace('-', '_')}" for sea in ("bay", "cape"))
    for name in (study, other):
        people.house.desk("/studies", method="POST", json={"name": name, "begin_with": "blank"})
    owner, new = people.signed_in("owner", study), f"cay-{people.name}"
    mine = f"/api/desk/studies/{study}/people"
    first = owner.send("POST", mine, json={"name": new, "role": "analyst"}).json()["link"]
    renewed = owner.send("POST", f"{mine}/{new}/link")
    assert renewed.status_code == 200, renewed.text
    for link, status in ((first, 403), (renewed.json()["link"], 200)):
        secret = link.partition("#link=")[2]
        assert owner.send("POST", "/api/account/link", json={"link": secret}).status_code == status
    # By the link one becomes them: nobody gets into a study that they do not own.
    people.house.desk(f"/people/{new}/role", method="PUT", json={"role": "viewer", "study": other})
    assert code(owner.send("POST", f"{mine}/{new}/link")) == (403, "not_yours")
    (row,) = [row for row in owner.send("GET", mine).json()["people"] if row["name"] == new]
    assert not row["may_have_link"]
    assert code(owner.send("POST", f"{mine}/nobody/link")) == (404, "person_not_found")


def test_a_name_that_is_free_again_opens_nothing_of_whoever_had_it(people: People) -> None:
    """Addresses have people by name: a name is never changed, and nothing comes back with it."""
    study = f"sound_{people.name.replace('-', '_')}"
    people.house.desk("/studies", method="POST", json={"name": study, "begin_with": "blank"})
    browser = people.signed_in("analyst", study)
    people.house.desk(f"/people/{people.name}", method="DELETE")
    people.invite("viewer")
    assert browser.status() == 401
    assert people.browser().sign_in(people.name).status_code == 403
    (row,) = [row for row in people.house.desk("/people").json()["people"] if row["name"] == people.name]
    assert row["roles"] == [{"study": None, "role": "viewer"}]


def test_who_owned_a_study_that_is_deleted_owns_no_later_one_of_its_name(people: People) -> None:
    study = f"strait_{people.name.replace('-', '_')}"
    begin = {"name": study, "begin_with": "blank"}
    people.house.desk("/studies", method="POST", json=begin)
    browser = people.signed_in("owner", study)
    assert browser.send("GET", f"/api/desk/studies/{study}/people").status_code == 200
    people.house.desk(f"/studies/{study}", method="DELETE")
    assert people.house.desk("/studies", method="POST", json=begin).status_code == 201
    assert browser.send("GET", f"/api/desk/studies/{study}/people").status_code == 403
    assert browser.status() == 200  # they may sign in, and are given another role


def test_who_makes_a_study_owns_it_until_it_is_deleted(people: People) -> None:
    study = f"reef_{people.name.replace('-', '_')}"
    browser = people.signed_in("researcher")
    body = {"name": study, "begin_with": "blank"}
    assert browser.send("POST", "/api/desk/studies", json=body).status_code == 201
    roles = browser.send("GET", "/api/account").json()["roles"]
    assert {"study": study, "role": "owner"} in roles
    assert browser.send("GET", f"/api/desk/studies/{study}/people").status_code == 200
    assert browser.send("DELETE", f"/api/desk/studies/{study}").status_code == 204
    assert browser.send("GET", "/api/account").json()["roles"] == [{"study": None, "role": "researcher"}]
