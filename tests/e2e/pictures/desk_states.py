"""Rarer states of the desk: accounts, a worker in progress, a paused run, other tasks, dialogs."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.e2e.hands import open_topic, press, say
from tests.e2e.pictures.camera import Camera
from tests.e2e.pictures.desk_stage import BUSY, RUN, WIZARDS, DeskStage

_PASSWORD = "seven small tides"
_TEMPLATES = {
    "correctness": "Correctness of answers",
    "reading": "Reading comprehension",
    "pairs": "Side by side",
}


def _enter(page: Page, stage: DeskStage, place: str = "") -> None:
    page.goto("about:blank")
    page.goto(f"{stage.url}/desk{place}#token={stage.token}")
    expect(page.locator("h1").first).to_be_visible()


def _begin(page: Page, stage: DeskStage, name: str, template: str) -> None:
    _enter(page, stage, "/studies")
    press(page, "New study")
    page.get_by_label(template, exact=False).first.check()
    page.get_by_label("Name").fill(name)
    press(page, "Create the study")
    expect(page.locator(".stepper").first).to_be_visible()


def accounts(page: Page, camera: Camera, stage: DeskStage) -> None:
    """Somebody is invited, chooses a password, and sees less than an owner."""
    headers = {"Authorization": f"Bearer {stage.token}"}
    body = {"name": f"{camera.look}@lab.example", "role": "viewer"}
    made = page.request.post(f"{stage.url}/api/desk/people", headers=headers, data=body)
    _enter(page, stage, "/people")
    expect(page.locator("tbody tr").first).to_be_visible()
    form = page.get_by_role("form", name="Create a token")
    form.get_by_label("Purpose").fill(f"nightly-{camera.look}")
    form.get_by_role("button", name="Create").click()
    expect(page.locator(".secret code")).to_be_visible()
    camera.shoot(page, "desk-token-made")
    page.reload()
    expect(page.locator("tbody tr").first).to_be_visible()
    camera.shoot(page, "desk-people-table", whole=True)
    page.get_by_role("button", name=f"Actions for {camera.look}").click()
    camera.shoot(page, "desk-person-menu")
    page.evaluate("sessionStorage.clear()")
    page.goto("about:blank")
    page.goto(made.json()["link"])
    page.get_by_label("Your password").fill(_PASSWORD)
    camera.shoot(page, "desk-choose-password")
    press(page, "Open the desk")
    expect(page.get_by_role("row").nth(1)).to_be_visible()
    camera.shoot(page, "desk-viewer")
    page.locator(".desk-top .menu > .button").click()
    camera.shoot(page, "desk-account-person")
    page.get_by_role("menuitem", name="Change password").click()
    camera.shoot(page, "desk-change-password")


def in_progress(page: Page, camera: Camera, stage: DeskStage) -> None:
    """A worker is chatting, and a researcher may send a message or end the session."""
    worker = page.context.new_page()
    worker.goto(f"{stage.url}/w/{BUSY}?worker={camera.look}")
    press(worker, "I understand")
    worker.get_by_label("Weekly").check()
    press(worker, "Continue")
    open_topic(worker)
    say(worker, "I bake bread.")
    _enter(page, stage, f"/runs/{BUSY}")
    expect(page.locator(".overview")).to_contain_text("in progress")
    camera.shoot(page, "desk-run-busy", whole=True)
    page.get_by_role("tab", name="Workers").click()
    page.get_by_role("row").filter(has_text="active").first.get_by_role("button").click()
    camera.shoot(page, "desk-act-active")
    page.get_by_role("menuitem", name="End session").click()
    camera.shoot(page, "desk-end-session")
    press(page, "Cancel")
    _enter(page, stage, f"/runs/{WIZARDS}/wizard")
    expect(page.get_by_text("No worker is waiting.")).to_be_visible()
    camera.shoot(page, "desk-wizard")
    worker.close()


def held(page: Page, camera: Camera, stage: DeskStage) -> None:
    """A run is paused, closed and opened again; a report is asked for once more."""
    _enter(page, stage, f"/runs/{RUN}")
    for action, name in (("Pause", "desk-run-paused"), ("Close the run", "desk-run-ended")):
        press(page, "More")
        page.get_by_role("menuitem", name=action).click()
        page.get_by_role("dialog").get_by_label("Reason").fill("The budget is spent.")
        page.get_by_role("dialog").get_by_role("button", name=action).click()
        expect(page.get_by_role("dialog")).to_have_count(0)
        expect(page.locator(".run-title .badge")).to_have_text("paused" if action == "Pause" else "closed")
        camera.shoot(page, name)
    press(page, "More")
    page.get_by_role("menuitem", name="Resume").click()
    page.get_by_role("dialog").get_by_role("button", name="Resume").click()
    expect(page.locator(".run-title .badge")).to_have_text("open")
    page.keyboard.press("Control+k")
    page.get_by_role("combobox").fill("zebra")
    camera.shoot(page, "desk-no-match")
    page.keyboard.press("Escape")
    page.get_by_role("tab", name="Transcripts").click()
    page.get_by_label("Words in the conversation").fill("zebra")
    page.keyboard.press("Enter")
    expect(page.get_by_text("No conversations match this search.")).to_be_visible()
    camera.shoot(page, "desk-transcripts-none")


def reported(page: Page, camera: Camera, stage: DeskStage) -> None:
    """Ask for another report, with its options in sight."""
    _enter(page, stage, f"/runs/{RUN}/report")
    press(page, "New report")
    page.get_by_role("dialog").get_by_text("Options").click()
    camera.shoot(page, "desk-new-report")


def other_tasks(page: Page, camera: Camera, stage: DeskStage) -> None:
    """The preview of a reading study, of one about correctness, and of pairs."""
    for task, template in _TEMPLATES.items():
        _begin(page, stage, f"{task}_{camera.look.replace('-', '_')}", template)
        page.get_by_role("tab", name="Preview").click()
        page.locator(".preview .stepper").get_by_role(
            "button", name="Chat" if task == "pairs" else "Rating"
        ).click()
        expect(page.locator(".preview-frame iframe, iframe.preview-frame").first).to_be_visible()
        camera.shoot(page, f"desk-preview-{task}", whole=True)


def editing(page: Page, camera: Camera, stage: DeskStage) -> None:
    """A consent form, a criterion and a question are written; the study is left, then deleted."""
    _begin(page, stage, f"edited_{camera.look.replace('-', '_')}", "Demo study")
    steps = page.locator(".stepper").first.locator("button")
    steps.nth(1).click()
    page.get_by_label("Consent text").fill(
        "# Your data\n\nWe store **what you write**.\n\n- For one year\n- In Europe"
    )
    press(page, "Add box")
    camera.shoot(page, "desk-consent", whole=True)
    steps.nth(4).click()
    page.get_by_text("It was obvious that I was talking").first.click()
    page.get_by_role("button", name="Add question").first.click()
    page.get_by_role("menuitem").first.click()
    camera.shoot(page, "desk-criterion", whole=True)
    page.get_by_role("navigation", name="Desk").get_by_role("link", name="Runs").click()
    expect(page.get_by_role("heading", name="Leave without saving?")).to_be_visible()
    camera.shoot(page, "desk-leave-study")
    page.keyboard.press("Escape")
    press(page, "More")
    page.get_by_role("menuitem", name="Delete").click()
    camera.shoot(page, "desk-delete-study")


SCENES: list[Callable[[Page, Camera, DeskStage], None]] = [
    accounts,
    in_progress,
    held,
    reported,
    other_tasks,
    editing,
]
