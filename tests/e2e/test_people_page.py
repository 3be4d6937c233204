"""Signing in, people, tokens and the audit log in a real browser, over a real server."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from server.access import sign_ins
from server.clock import utc_now
from server.db.engine import open_engine
from tests.e2e.axe import clean
from tests.e2e.hands import context_of, enter, press
from tests.e2e.stage import Stage
from tests.support.openid_provider import CLIENT, SECRET, OpenIdProvider, serving

pytestmark = pytest.mark.browser
PASSWORD = "seven small tides"


@pytest.fixture(scope="module")
def provider() -> Iterator[OpenIdProvider]:
    with serving() as provider:
        yield provider


@pytest.fixture(scope="module")
def stage(provider: OpenIdProvider, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A server where people sign in with an OpenID provider, too."""
    stage = Stage(
        tmp_path_factory.mktemp("stage"),
        oidc_issuer=provider.issuer,
        oidc_client_id=CLIENT,
        oidc_client_secret=SECRET,
        oidc_name="the university",
    )
    stage.start()
    yield stage
    stage.stop()


def fit(page: Page) -> None:
    """Check that axe finds nothing, and that nothing is wider than the page."""
    clean(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.fixture
def another(browser: Browser) -> Iterator[Page]:
    """A browser of somebody else, on a phone."""
    context = context_of(browser, 360)
    yield context.new_page()
    context.close()


def invited(page: Page, stage: Stage, name: str, role: str) -> str:
    """Invite somebody on the page of people, and return the link that it shows."""
    page.goto(f"{stage.url}/desk/people#token={stage.token}")
    form = page.get_by_role("form", name="Invite somebody")
    form.get_by_label("Name or e-mail address").fill(name)
    form.get_by_label("Role").select_option(role)
    form.get_by_role("button", name="Save").click()
    return page.locator(".secret code").inner_text()


def choose(page: Page, whom: str, action: str) -> None:
    """Choose an action about somebody from their menu, and confirm it where that is asked."""
    page.get_by_role("button", name=f"Actions for {whom}").click()
    page.get_by_role("menuitem", name=action, exact=True).click()
    if action != "New link":
        fit(page)
        page.get_by_role("dialog").get_by_role("button", name=action).click()


def test_the_first_person_becomes_the_owner_by_a_link(page: Page, stage: Stage) -> None:
    engine = open_engine(f"sqlite:///{stage.database}", begin="BEGIN IMMEDIATE")
    with engine.begin() as connection:
        link = sign_ins.new_link(connection, None, utc_now())
    engine.dispose()
    page.goto(f"{stage.url}/desk#link={link}")
    expect(page.get_by_text("you become its owner")).to_be_visible()
    fit(page)
    assert "link" not in page.url
    page.get_by_label("Your name or e-mail address").fill("owner@example.org")
    page.get_by_label("Your password").fill(PASSWORD)
    press(page, "Open the desk")
    expect(page.get_by_role("heading", name="Runs")).to_be_visible()
    page.get_by_role("link", name="Audit log").click()
    expect(page.get_by_role("row").filter(has_text="person.password")).to_have_count(1)
    fit(page)
    page.get_by_label("Action starts with").fill("no.such")
    expect(page.get_by_text("No entries match these filters.")).to_be_visible()
    page.goto(f"{stage.url}/api/docs")
    expect(page.get_by_text("/api/desk/runs", exact=True).first).to_be_visible()  # no token is asked for
    fit(page)
    page.goto(f"{stage.url}/desk")
    page.get_by_text("owner@example.org").first.click()
    page.get_by_role("menuitem", name="Sign out", exact=True).click()
    expect(page.get_by_label("Password")).to_be_visible()
    page.reload()
    expect(page.get_by_label("Password")).to_be_visible()


def test_who_is_invited_signs_in_and_sees_what_their_role_shows(
    page: Page, another: Page, stage: Stage
) -> None:
    link = invited(page, stage, "vera", "viewer")
    fit(page)
    another.goto(link)
    expect(another.get_by_text("You sign in as vera.")).to_be_visible()
    fit(another)
    another.get_by_label("Your password").fill("short")
    press(another, "Open the desk")
    expect(another.get_by_label("Your password")).to_be_focused()  # the browser says what is missing
    another.get_by_label("Your password").fill(PASSWORD)
    press(another, "Open the desk")
    expect(another.get_by_role("heading", name="Runs")).to_be_visible()
    expect(another.get_by_role("link", name="People")).to_have_count(0)
    fit(another)
    another.goto(link)
    expect(another.get_by_text("This link was used before")).to_be_visible()
    expect(page.get_by_role("row").filter(has_text="vera")).to_contain_text("Has a password")


_FORM = """([address, body]) => {
    const form = document.createElement('form');
    Object.assign(form, {method: 'post', enctype: 'text/plain', action: address});
    const field = document.createElement('input');
    [field.name, field.value] = body;
    form.append(field);
    document.documentElement.append(form);
    form.submit();
}"""
_FETCH = """async ([address, body]) => {
    const asked = {method: 'POST', mode: 'no-cors', credentials: 'include', body};
    return (await fetch(address, asked)).type;
}"""


@pytest.mark.parametrize(
    ("host", "refused"), [("127.0.0.1", "foreign_origin"), ("localhost", "token_missing")]
)
def test_a_page_of_another_origin_does_nothing_in_an_owners_name(
    page: Page, stage: Stage, provider: OpenIdProvider, host: str, refused: str
) -> None:
    """Of another port, which browsers take for the same site and send cookies to; and of another site."""
    page.goto(invited(page, stage, f"owner-{host}", "owner"))
    page.get_by_label("Your password").fill(PASSWORD)
    press(page, "Open the desk")
    expect(page.get_by_role("heading", name="Runs")).to_be_visible()
    evil = page.context.new_page()
    for path, body in (
        ("/api/desk/people", ('{"name": "mallory", "role": "owner", "x": "', '"}')),
        ("/api/account/sign-out-everywhere", ("", "")),
    ):
        for way, given in ((_FORM, [*body]), (_FETCH, "".join(body))):
            evil.goto(f"{provider.issuer.replace('127.0.0.1', host)}/nothing")
            with evil.expect_response(lambda answer: answer.url.startswith(stage.url)) as answer:
                evil.evaluate(way, [f"{stage.url}{path}", given])
            assert answer.value.status in {401, 403}
            if way == _FORM:
                assert answer.value.json()["error"]["code"] == refused
    page.goto(f"{stage.url}/desk/people")
    expect(page.get_by_role("row").filter(has_text=f"owner-{host}")).to_have_count(1)
    expect(page.get_by_role("row").filter(has_text="mallory")).to_have_count(0)


def test_a_page_left_open_over_night_signs_in_again_and_loses_nothing(page: Page, stage: Stage) -> None:
    link = invited(page, stage, "nora", "owner")
    page.get_by_text("Installation’s token").click()
    page.get_by_role("menuitem", name="Sign out").click()
    page.goto(link)
    page.get_by_label("Your password").fill(PASSWORD)
    press(page, "Open the desk")
    page.get_by_role("link", name="People").click()
    form = page.get_by_role("form", name="Create a token")
    form.get_by_label("Purpose").fill("night-shift")

    def expire_every_sign_in(asked: Route) -> None:
        with closing(sqlite3.connect(stage.database)) as database, database:
            database.execute("UPDATE sign_in SET expires_at = '2026-01-01 00:00:00'")
        asked.continue_()

    # They expire as the button's request leaves: any earlier, and a list that the page is still
    # loading could be refused first, and its dialog would cover the button.
    page.route("**/api/desk/tokens", expire_every_sign_in, times=1)
    form.get_by_role("button", name="Create").click()
    dialog = page.get_by_role("dialog", name="Sign in again")
    expect(dialog).to_be_visible()
    fit(page)
    dialog.get_by_label("Name").fill("nora")
    dialog.get_by_label("Password").fill("not my password")
    dialog.get_by_role("button", name="Sign in").click()
    expect(dialog.get_by_text("Wrong name or password")).to_be_visible()
    dialog.get_by_label("Password").fill(PASSWORD)
    dialog.get_by_role("button", name="Sign in").click()
    expect(dialog).to_have_count(0)
    # What was asked before the sign-in is done after it, once.
    expect(page.locator(".secret code")).to_contain_text("cand_")
    expect(page.get_by_role("row").filter(has_text="night-shift")).to_be_visible()
    choose(page, "night-shift", "Revoke token")
    expect(page.get_by_role("row").filter(has_text="night-shift")).to_have_count(0)


def test_a_worker_is_looked_up_by_their_id(page: Page, worker: Page, stage: Stage) -> None:
    enter(worker, f"{stage.url}/w/short?worker=PID-4711")
    page.goto(f"{stage.url}/desk/runs/short/settings#token={stage.token}")
    page.get_by_label("Pseudonym or id").fill("PID-4711")
    press(page, "Look up")
    found = page.get_by_role("group", name="Workers found")
    expect(found.get_by_role("rowheader")).to_contain_text("W")
    page.get_by_label("Pseudonym or id").fill(found.get_by_role("rowheader").inner_text())
    press(page, "Look up")
    expect(found.get_by_role("cell", name="PID-4711")).to_be_visible()
    fit(page)


def test_who_is_invited_signs_in_with_the_provider(
    page: Page, another: Page, stage: Stage, provider: OpenIdProvider
) -> None:
    invited(page, stage, "Bea@example.org", "viewer")
    another.goto(f"{stage.url}/desk")
    another.get_by_role("link", name="Sign in with the university").click()
    another.get_by_role("link", name="It is me").click()
    expect(another.get_by_role("heading", name="Runs")).to_be_visible()
    another.get_by_text("bea@example.org").click()
    expect(another.get_by_role("menuitem", name="Change password")).to_have_count(0)  # there is none
    another.get_by_role("menuitem", name="Sign out", exact=True).click()
    provider.email = "eve@example.org"
    another.get_by_role("link", name="Sign in with the university").click()
    another.get_by_role("link", name="It is me").click()
    expect(
        another.get_by_role("alert").filter(has_text="No account here has the e-mail address")
    ).to_be_visible()
    assert "refused" not in another.url
    fit(another)


def test_somebody_changes_their_password(page: Page, another: Page, stage: Stage) -> None:
    link = invited(page, stage, "cora", "viewer")
    another.goto(link)
    another.get_by_label("Your password").fill(PASSWORD)
    press(another, "Open the desk")
    expect(another.get_by_role("heading", name="Runs")).to_be_visible()
    page.get_by_text("Installation’s token").click()
    page.get_by_role("menuitem", name="Sign out").click()
    page.get_by_label("Name").fill("cora")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.get_by_text("cora", exact=True).click()
    page.get_by_role("menuitem", name="Change password").click()
    dialog = page.get_by_role("dialog", name="Change your password")
    dialog.get_by_label("Current password").fill("not my password")
    dialog.get_by_label("New password").fill("eight small tides")
    dialog.get_by_role("button", name="Change password").click()
    expect(dialog.get_by_text("This is not your current password")).to_be_visible()
    fit(page)
    dialog.get_by_label("Current password").fill(PASSWORD)
    dialog.get_by_role("button", name="Change password").click()
    page.get_by_role("dialog", name="Your password is changed").get_by_role("button", name="Continue").click()
    page.reload()
    expect(page.get_by_text("cora", exact=True)).to_be_visible()
    another.goto(f"{stage.url}/desk")  # signed out by the change
    expect(another.get_by_label("Password")).to_be_visible()
    another.get_by_label("Name").fill("cora")
    another.get_by_label("Password").fill("eight small tides")
    another.get_by_role("button", name="Sign in", exact=True).click()
    expect(another.get_by_role("heading", name="Runs")).to_be_visible()


def test_people_are_invited_to_one_study(page: Page, stage: Stage) -> None:
    page.goto(f"{stage.url}/desk/studies#token={stage.token}")
    page.get_by_role("main").get_by_role("link").first.click()
    page.get_by_role("tab", name="People").click()
    form = page.get_by_role("form", name="Invite to this study")
    form.get_by_label("Name or e-mail address").fill("dot@example.org")
    form.get_by_role("button", name="Save").click()
    expect(page.locator(".secret code")).to_contain_text("#link=")
    row = page.get_by_role("row").filter(has_text="dot@example.org")
    expect(row).to_contain_text("Viewer")
    fit(page)
    first = page.locator(".secret code").inner_text()
    expect(row).to_contain_text("link valid until")
    choose(page, "dot@example.org", "New link")
    expect(page.locator(".secret code")).not_to_have_text(first)
    choose(page, "dot@example.org", "Revoke link")
    expect(row).to_contain_text("Invited; no link")
    choose(page, "dot@example.org", "Remove from study")
    expect(row).to_have_count(0)


def test_who_makes_a_study_invites_to_it_at_once(page: Page, stage: Stage) -> None:
    link = invited(page, stage, "mo", "researcher")
    page.get_by_text("Installation’s token").click()
    page.get_by_role("menuitem", name="Sign out").click()
    page.goto(link)
    page.get_by_label("Your password").fill(PASSWORD)
    press(page, "Open the desk")
    page.get_by_role("link", name="Studies").click()
    press(page, "New study")
    page.get_by_label("Name").fill("mos_own")
    press(page, "Create the study")
    expect(page.get_by_role("heading", name="mos_own")).to_be_visible()
    page.get_by_role("tab", name="People").click()
    expect(page.get_by_role("form", name="Invite to this study")).to_be_visible()
