"""Studies, bots and runs as tests of the desk find them: made over the API, used on the page."""

from typing import Any, Protocol

from playwright.sync_api import Page, expect


class Desk(Protocol):
    """A server whose desk is looked at: where it is, and the token of its owner."""

    @property
    def url(self) -> str: ...

    @property
    def token(self) -> str: ...


def call(page: Page, stage: Desk, method: str, path: str, body: Any = None) -> Any:
    headers = {"Authorization": f"Bearer {stage.token}"}
    answer = page.request.fetch(f"{stage.url}/api/desk{path}", method=method, headers=headers, data=body)
    assert answer.ok, answer.text()
    return answer.json()


def desk(page: Page, stage: Desk, place: str) -> None:
    page.goto(f"{stage.url}/desk/{place}#token={stage.token}")


def step(page: Page, name: str) -> None:
    """Show a step of the study."""
    page.get_by_role("navigation", name="Steps of the study").get_by_role("button", name=name).click()


def made(page: Page, stage: Desk, name: str, text: str | None = None) -> None:
    """Show a new study, the demo if no text is given."""
    content = {"begin_with": "demo"} if text is None else {"yaml": text}
    call(page, stage, "POST", "/studies", {"name": name, **content})
    desk(page, stage, f"studies/{name}")
    expect(page.get_by_role("status").filter(has_text="Version 1")).to_contain_text("no problems")


def open_tab(page: Page, name: str) -> None:
    """Show a tab of a run's page."""
    page.get_by_role("tab", name=name).click()


def act_on_run(page: Page, name: str) -> None:
    """Do what the menu of a run's page, or its one leading button, offers; and confirm it."""
    leading = page.get_by_role("main").get_by_role("button", name=name, exact=True)
    if leading.count() == 0:
        page.get_by_role("button", name="More").click()
        leading = page.get_by_role("menuitem", name=name)
    leading.click()
    page.get_by_role("dialog").get_by_role("button", name=name, exact=True).click()
    expect(page.get_by_role("dialog")).to_have_count(0)
