"""Every state of the researcher's page."""

import json
from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.e2e.hands import press
from tests.e2e.pictures.camera import Camera
from tests.e2e.pictures.desk_stage import DRAFTED, RECRUITED, RUN, DeskStage
from tests.server.support.talker import talking

_QUIET_TABS = ("workers", "transcripts", "bots", "report", "settings")
TITLES = {
    "desk-sign-in": "Desk: signing in",
    "desk-sign-in-refused": "Desk: a token that is not accepted",
    "desk-runs": "Desk: runs",
    "desk-run": "Desk: a run with data",
    "desk-run-quiet": "Desk: a run that nobody has come to",
    "desk-palette": "Desk: a run, study or worker is searched for",
    "desk-transcripts": "Desk: the transcripts of a run",
    "desk-run-bots": "Desk: the bots of a run",
    "desk-workers": "Desk: the workers of a run",
    "desk-rules": "Desk: the rules of a run, with a mistake",
    "desk-act": "Desk: what can be done about a worker",
    "desk-pause": "Desk: pausing a run",
    "desk-assignment": "Desk: an assignment, a conversation at a time",
    "desk-assignment-answers": "Desk: what else a worker gave",
    "desk-report": "Desk: no report yet",
    "desk-report-made": "Desk: a report",
    "desk-export": "Desk: no files yet",
    "desk-export-made": "Desk: a run as files",
    "desk-rehearsal": "Desk: no rehearsal yet",
    "desk-rehearsal-calls": "Desk: a rehearsal asks before bots are called",
    "desk-rehearsing": "Desk: a rehearsal under way",
    "desk-studies": "Desk: studies",
    "desk-new-study": "Desk: a new study",
    "desk-study": "Desk: the study editor",
    "desk-study-mistakes": "Desk: a study with mistakes",
    "desk-study-conflict": "Desk: two have edited at once",
    "desk-register-bot": "Desk: registering a bot",
    "desk-register-service": "Desk: registering a model of a service, with a mistake",
    "desk-bots": "Desk: what checks found, and the examination of the qc bot",
    "desk-try-bot": "Desk: a bot is tried",
    "desk-open-run": "Desk: opening a run",
    "desk-recruiting-draft": "Desk: a study to be drafted on Prolific",
    "desk-recruiting": "Desk: recruiting on Prolific",
    "desk-recruiting-decision": "Desk: deciding on pay",
    "desk-people": "Desk: people",
    "desk-audit": "Desk: the audit log",
    "desk-lost": "Desk: the server cannot be reached",
    "desk-overnight": "Desk: a page that was left open over night",
    "desk-not-found": "Desk: an address that is not a page",
    "desk-run-not-found": "Desk: a run that does not exist",
    "desk-loading": "Desk: a run that is still loading",
    "desk-broken": "Desk: an error of the server",
    "desk-run-menu": "Desk: the menu of a run",
    "desk-account-menu": "Desk: the menu of an account",
    "desk-assignment-menu": "Desk: the menu of an assignment",
    **{f"desk-quiet-{tab}": f"Desk: {tab} of a run that nobody has come to" for tab in _QUIET_TABS},
    "desk-recruiting-none": "Desk: choosing where workers come from",
    **{f"desk-step-{number}": f"Desk: step {number} of a study" for number in range(1, 9)},
    **{f"desk-step-{number}-mistakes": f"Desk: step {number} of a new study" for number in range(1, 9)},
    "desk-study-yaml": "Desk: the YAML of a study",
    "desk-study-versions": "Desk: the versions of a study",
    "desk-study-people": "Desk: the people of a study",
    "desk-study-menu": "Desk: the menu of a study",
    "desk-forecast": "Desk: the forecast of a rehearsal",
    "desk-simulated": "Desk: a run of 40 simulated workers",
    "desk-simulated-workers": "Desk: the simulated workers of a run",
}


def _heading(page: Page, name: str) -> None:
    expect(page.get_by_role("heading", name=name, exact=True).first).to_be_visible()


def _go(page: Page, stage: DeskStage, place: str) -> None:
    page.goto(f"{stage.url}/desk{place}")


def _enter(page: Page, stage: DeskStage) -> None:
    page.goto(f"{stage.url}/desk#token={stage.token}")
    _heading(page, "Runs")


def signing_in(page: Page, camera: Camera, stage: DeskStage) -> None:
    _go(page, stage, "")
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()
    camera.shoot(page, "desk-sign-in")
    page.goto("about:blank")
    page.goto(f"{stage.url}/desk#token=wrong")
    expect(page.get_by_text("The server does not accept this token.")).to_be_visible()
    camera.shoot(page, "desk-sign-in-refused")


def runs(page: Page, camera: Camera, stage: DeskStage) -> None:
    _enter(page, stage)
    expect(page.get_by_role("row").nth(1)).to_be_visible()
    camera.shoot(page, "desk-runs")
    page.keyboard.press("Control+k")
    page.get_by_role("combobox").fill("pilot")
    expect(page.get_by_role("option").first).to_be_visible()
    camera.shoot(page, "desk-palette")
    page.keyboard.press("Escape")
    _go(page, stage, "/runs/quiet")
    expect(page.get_by_text("No workers yet.")).to_be_visible()
    camera.shoot(page, "desk-run-quiet", whole=True)
    _go(page, stage, f"/runs/{RUN}")
    _heading(page, "Scores so far")
    camera.shoot(page, "desk-run", whole=True)
    press(page, "More")
    page.get_by_role("menuitem", name="Pause").click()
    camera.shoot(page, "desk-pause")
    page.keyboard.press("Escape")
    _go(page, stage, f"/runs/{RUN}/transcripts")
    expect(page.locator("section[aria-labelledby=transcripts] li").first).to_be_visible()
    camera.shoot(page, "desk-transcripts")
    _go(page, stage, f"/runs/{RUN}/bots")
    _heading(page, "Incidents")
    camera.shoot(page, "desk-run-bots")
    _go(page, stage, f"/runs/{RUN}/settings")
    press(page, "Change rules")
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Type of target").select_option("Submitted assignments")
    dialog.get_by_label("Assignments").fill("3.5")
    camera.shoot(page, "desk-rules")
    page.keyboard.press("Escape")
    _go(page, stage, f"/runs/{RUN}/workers")
    expect(page.locator("section[aria-labelledby=workers] tbody tr").first).to_be_visible()
    camera.shoot(page, "desk-workers")
    page.locator("section[aria-labelledby=workers] tbody tr").first.get_by_role("button").click()
    camera.shoot(page, "desk-act")
    page.keyboard.press("Escape")
    page.locator("section[aria-labelledby=workers] tbody a").first.click()
    expect(page.get_by_role("navigation", name="Conversations")).to_be_visible()
    camera.shoot(page, "desk-assignment", whole=True)
    page.get_by_role("link", name="Answers and writing").click()
    _heading(page, "Questionnaire before")
    camera.shoot(page, "desk-assignment-answers", whole=True)


def jobs(page: Page, camera: Camera, stage: DeskStage) -> None:
    _enter(page, stage)
    _go(page, stage, f"/runs/{RUN}/report")
    expect(page.get_by_role("button", name="Make a report").or_(page.locator("iframe"))).to_be_visible()
    if page.locator("iframe").count() == 0:
        camera.shoot(page, "desk-report")
        press(page, "Make a report")
    expect(page.locator("iframe")).to_be_visible(timeout=300_000)
    camera.shoot(page, "desk-report-made", whole=True)
    _go(page, stage, "/runs/quiet/rehearsal")
    expect(page.get_by_label("Simulated workers")).to_be_visible()
    camera.shoot(page, "desk-rehearsal")
    press(page, "Rehearse")
    question = page.get_by_role("dialog", name="Rehearse?")
    expect(question.get_by_role("row").last).to_contain_text("Total")
    camera.shoot(page, "desk-rehearsal-calls")
    question.get_by_role("button", name="Rehearse").click()
    expect(page.get_by_role("progressbar")).to_be_visible()
    camera.shoot(page, "desk-rehearsing")
    press(page, "Cancel")
    expect(page.get_by_label("Simulated workers")).to_be_visible()


def exports(page: Page, camera: Camera, stage: DeskStage) -> None:
    _enter(page, stage)
    _go(page, stage, f"/runs/{RUN}/settings")
    _heading(page, "Exports")
    export = page.get_by_role("button", name="Export", exact=True)
    expect(export).to_be_visible()
    files = page.locator("a[download]")
    if files.count() == 0:
        camera.shoot(page, "desk-export")
        export.click()
    expect(files.first).to_be_visible(timeout=300_000)
    camera.shoot(page, "desk-export-made", whole=True)


def studies(page: Page, camera: Camera, stage: DeskStage) -> None:
    name = f"shots_{camera.shade}_{camera.width}"
    _enter(page, stage)
    _go(page, stage, "/studies")
    _heading(page, "Studies")
    press(page, "New study")
    camera.shoot(page, "desk-new-study")
    page.get_by_label("Demo study").check()
    page.get_by_label("Name").fill(name)
    press(page, "Create the study")
    _heading(page, name)
    camera.shoot(page, "desk-study")
    page.get_by_label("Title").fill("Another title")
    other = page.context.new_page()
    _go(other, stage, f"/studies/{name}#token={stage.token}")
    other.get_by_label("Title").fill("Theirs")
    press(other, "Save")
    expect(other.locator(".study-head [role=status]")).to_contain_text("Version 2")
    other.close()
    press(page, "Save")
    _heading(page, "Somebody else has saved this study")
    camera.shoot(page, "desk-study-conflict")
    press(page, "Take theirs")
    press(page, "Open a run")
    camera.shoot(page, "desk-open-run")
    page.keyboard.press("Escape")
    page.get_by_label("Title").fill("")
    page.get_by_label("Minutes").focus()
    expect(page.get_by_text("Must not be empty")).to_be_visible()
    camera.shoot(page, "desk-study-mistakes")
    page.get_by_role("tab", name="Bots").click()
    press(page, "Add a bot")
    camera.shoot(page, "desk-register-bot")
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Service").select_option("openai")
    dialog.get_by_text("Advanced").click()
    dialog.get_by_label("Temperature", exact=True).fill("warm")
    dialog.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_text("Enter a number from 0 to 2")).to_be_visible()
    camera.shoot(page, "desk-register-service")
    page.keyboard.press("Escape")
    press(page, "Undo")
    _bots(page, camera, stage, f"echo-{camera.shade}-{camera.width}")
    _go(page, stage, "/studies")
    expect(page.get_by_role("link", name=name)).to_be_visible()
    camera.shoot(page, "desk-studies")


def _bots(page: Page, camera: Camera, stage: DeskStage, name: str) -> None:
    """Have a bot that says one of three lines checked, and the qc bot examined."""
    headers = {"Authorization": f"Bearer {stage.token}"}
    with talking("Fine, thanks.", "I like **tea**.", "Really? Tell me more!") as talker:
        body = {"name": name, "endpoint": talker.endpoint}
        assert page.request.post(f"{stage.url}/api/desk/bots", headers=headers, data=body).ok
        press(page, f"Check {name}")
        press(page, "Examine the QC bot")
        expect(page.get_by_text("A small language model prefers")).to_be_visible()
        page.get_by_text("questions passed").first.click()
        camera.shoot(page, "desk-bots", whole=True)
        press(page, f"Try {name}")
        page.get_by_label("Message", exact=True).fill("How are you?")
        press(page, "Send")
        expect(page.locator(".making")).to_be_visible()
        page.locator(".making > summary").click()
        camera.shoot(page, "desk-try-bot")
        press(page, "Close")


def recruiting(page: Page, camera: Camera, stage: DeskStage) -> None:
    _enter(page, stage)
    _go(page, stage, f"/runs/{DRAFTED}/recruiting")
    _heading(page, "Plan the study on Prolific")
    camera.shoot(page, "desk-recruiting-draft")
    _go(page, stage, f"/runs/{RECRUITED}/recruiting")
    expect(page.get_by_text("Active", exact=True)).to_be_visible()
    camera.shoot(page, "desk-recruiting")
    page.get_by_role("checkbox").nth(1).check()
    press(page, "Review selected (1)")
    page.get_by_label("Decision", exact=True).select_option(label="Reject")
    camera.shoot(page, "desk-recruiting-decision")
    press(page, "Cancel")


def people(page: Page, camera: Camera, stage: DeskStage) -> None:
    _enter(page, stage)
    _go(page, stage, "/people")
    _heading(page, "People")
    camera.shoot(page, "desk-people", whole=True)
    _go(page, stage, "/audit")
    _heading(page, "Audit log")
    camera.shoot(page, "desk-audit")


def troubles(page: Page, camera: Camera, stage: DeskStage) -> None:
    _enter(page, stage)
    page.route("**/api/desk/watch/**", lambda route: route.abort())
    _go(page, stage, f"/runs/{RUN}")
    expect(page.get_by_text("The server can’t be reached.")).to_be_visible()
    camera.shoot(page, "desk-lost")
    page.unroute("**/api/desk/watch/**")
    error = {"error": {"code": "unauthorised", "message": "nobody is signed in", "hint": "Sign in"}}
    _go(page, stage, f"/runs/{RUN}/workers")
    _heading(page, "Workers")
    page.route(
        "**/api/desk/**",
        lambda route: route.fulfill(status=401, body=json.dumps(error), content_type="application/json"),
    )
    # No click of a mouse: where a stream has come back before it, the dialog is there already.
    page.locator("section[aria-labelledby=workers] tbody a").first.dispatch_event("click")
    _heading(page, "Sign in again")
    camera.shoot(page, "desk-overnight")


def lost_ways(page: Page, camera: Camera, stage: DeskStage) -> None:
    """Pages that do not exist, one that is loading, and one that the server cannot give."""
    _enter(page, stage)
    _go(page, stage, "/blah")
    _heading(page, "Page not found")
    camera.shoot(page, "desk-not-found")
    _go(page, stage, "/runs/nowhere")
    _heading(page, "Run not found")
    camera.shoot(page, "desk-run-not-found")
    page.route("**/api/desk/watch/**", lambda route: None)
    _go(page, stage, f"/runs/{RUN}")
    expect(page.locator(".skeleton")).to_be_visible()
    camera.shoot(page, "desk-loading")
    page.unroute("**/api/desk/watch/**")
    error = {
        "error": {"code": "internal", "message": "Something went wrong on the server", "hint": "Try again."}
    }
    page.route(
        "**/api/desk/audit**",
        lambda route: route.fulfill(status=500, body=json.dumps(error), content_type="application/json"),
    )
    _go(page, stage, "/audit")
    expect(page.locator(".failure")).to_be_visible()
    camera.shoot(page, "desk-broken")


def menus(page: Page, camera: Camera, stage: DeskStage) -> None:
    _enter(page, stage)
    page.locator(".desk-top .menu > .button").click()
    camera.shoot(page, "desk-account-menu")
    _go(page, stage, f"/runs/{RUN}")
    press(page, "More")
    camera.shoot(page, "desk-run-menu")
    _go(page, stage, f"/runs/{RUN}/workers")
    page.locator("section[aria-labelledby=workers] tbody a").first.click()
    press(page, "Actions")
    camera.shoot(page, "desk-assignment-menu")


def empty(page: Page, camera: Camera, stage: DeskStage) -> None:
    """The tabs of a run that nobody has come to."""
    _enter(page, stage)
    for tab in _QUIET_TABS:
        _go(page, stage, f"/runs/quiet/{tab}")
        expect(page.locator(".tab-panel h2, .tab-panel .empty").first).to_be_visible()
        camera.shoot(page, f"desk-quiet-{tab}", whole=True)
    _go(page, stage, "/runs/quiet/recruiting")
    _heading(page, "Recruiting")
    camera.shoot(page, "desk-recruiting-none", whole=True)


def steps(page: Page, camera: Camera, stage: DeskStage) -> None:
    """Each step of the form: of the demo study, and of an empty one."""
    _enter(page, stage)
    for choice, suffix in (("Demo study", ""), ("Empty study", "-mistakes")):
        _go(page, stage, "/studies")
        press(page, "New study")
        page.get_by_label(choice).check()
        page.get_by_label("Name").fill(f"steps_{camera.shade}_{camera.width}{suffix.replace('-', '_')}")
        press(page, "Create the study")
        expect(page.locator(".stepper").first).to_be_visible()
        shown = page.locator(".stepper").first.locator("button")
        for number in range(1, shown.count() + 1):
            shown.nth(number - 1).click()
            camera.shoot(page, f"desk-step-{number}{suffix}", whole=True)
    for tab in ("YAML", "Versions", "People"):
        page.get_by_role("tab", name=tab).click()
        camera.shoot(page, f"desk-study-{tab.lower()}")
    press(page, "More")
    camera.shoot(page, "desk-study-menu")


def simulated(page: Page, camera: Camera, stage: DeskStage) -> None:
    """The forecast of a rehearsal, and the run of its workers."""
    _enter(page, stage)
    _go(page, stage, "/runs/quiet/rehearsal")
    forecast = page.get_by_role("heading", name="Forecast")
    workers = page.get_by_label("Simulated workers")
    expect(forecast.or_(workers).first).to_be_visible()
    if not forecast.is_visible():
        page.get_by_label("Pay per assignment").fill("4.5")
        press(page, "Rehearse")
        page.get_by_role("dialog").get_by_role("button", name="Rehearse").click()
        expect(forecast).to_be_visible(timeout=300_000)
    camera.shoot(page, "desk-forecast", whole=True)
    page.get_by_role("listitem").filter(has_text="done").get_by_role("link").first.click()
    expect(page.locator(".overview")).to_be_visible()
    camera.shoot(page, "desk-simulated", whole=True)
    page.get_by_role("tab", name="Workers").click()
    camera.shoot(page, "desk-simulated-workers")


SCENES: list[Callable[[Page, Camera, DeskStage], None]] = [
    signing_in,
    runs,
    jobs,
    exports,
    studies,
    recruiting,
    people,
    troubles,
    lost_ways,
    menus,
    empty,
    steps,
    simulated,
]
