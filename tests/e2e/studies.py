"""Studies and bots as tests of the desk find them: made over the API, shown on the page."""

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
    expect(page.get_by_role("status").filter(has_text="Version 1")).to_contain_text("no mistakes")
