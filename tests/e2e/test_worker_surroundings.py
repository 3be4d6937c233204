"""The worker's page within what others put around it: a frame, a translator."""

import re
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.hands import BUBBLES, enter, open_topic
from tests.e2e.stage import Stage
from tests.support.waiting import wait_until

pytestmark = pytest.mark.browser


# ---- within a frame --------------------------------------------------------------------------


@pytest.fixture
def surveys() -> Iterator[Callable[[str], str]]:
    """Show a page of another site than the server's (127.0.0.1), and return its address."""
    shown: list[str] = []

    class Survey(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(shown[-1].encode())

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Survey) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()

        def show(content: str) -> str:
            shown.append(content)
            return f"http://localhost:{server.server_port}/"

        yield show
        server.shutdown()


LISTEN = "var heard = []; addEventListener('message', (event) => heard.push(event.data));"
NO_THIRD_PARTY_COOKIES = {
    "enableThirdPartyCookieRestriction": True,
    "disableThirdPartyCookieMetadata": True,
    "disableThirdPartyCookieHeuristics": True,
}


@pytest.mark.parametrize("sandbox", [None, "allow-scripts allow-same-origin allow-forms allow-popups"])
def test_the_end_in_a_frame_opens_outside_and_leaves_the_code(
    page: Page, stage: Stage, surveys: Callable[[str], str], sandbox: str | None
) -> None:
    back = "https://platform.example/back"
    page.context.route(re.compile("platform.example"), lambda route: route.fulfill(body="You are back."))
    attribute = "" if sandbox is None else f'sandbox="{sandbox}"'
    link = f"{stage.url}/w/platform?worker=framed-{len(attribute)}"
    frame = f'<iframe {attribute} width="900" height="700" src="{link}"></iframe>'
    outer = surveys(f"{frame}<script>{LISTEN}</script>")
    page.goto(outer.replace("localhost", "127.0.0.1"))  # a site that the study does not name
    expect(page.frame_locator("iframe").get_by_role("button")).to_have_count(0)
    assert page.frames[1].url.startswith("chrome-error:")
    page.context.new_cdp_session(page).send("Network.setCookieControls", NO_THIRD_PARTY_COOKIES)
    page.goto(outer)
    inside = page.frames[1]
    inside.get_by_role("button", name="I understand").click()
    inside.get_by_label("Your topic").fill("Bread")
    inside.get_by_role("radio", name="Like", exact=True).check()
    inside.get_by_role("button", name="Start the conversation").click()
    inside.get_by_label("Your message").fill("I bake bread.")
    inside.get_by_label("Your message").press("Enter")
    expect(inside.locator(BUBBLES)).to_have_count(2)
    inside.get_by_role("button", name=re.compile("^Finish & rate")).click()
    inside.get_by_role("button", name="Finish and rate").click()
    expect(inside.get_by_role("slider")).to_have_count(7)
    for slider in inside.get_by_role("slider").all():
        slider.fill("50")
    inside.get_by_role("button", name="Submit ratings").click()
    inside.get_by_role("button", name="Submit").click()
    expect(inside.locator(".code-text")).to_be_visible()
    if sandbox is None:
        expect(page).to_have_url(re.compile("^" + back))
        return
    # The frame may not leave: it stays, with its code, and its button opens the way back beside it.
    expect(inside.get_by_role("button", name="Stay here")).to_have_count(0)
    with page.expect_popup() as opened:
        inside.get_by_role("link").click()
    expect(opened.value).to_have_url(re.compile("^" + back))
    expect(inside.locator(".code-text")).to_be_visible()
    expect(page).to_have_url(outer)
    code = inside.locator(".code-text").inner_text()
    assert page.evaluate("heard") == [{"candor": "started"}, {"candor": "finished", "code": code}]


# ---- translated ------------------------------------------------------------------------------

# What a browser's translator does to a page: every text becomes a <font>, now and whenever one comes.
TRANSLATE = """() => {
    document.documentElement.classList.add("translated-ltr");
    const translate = (node) => {
        const { parentElement: parent } = node;
        const stays = "[translate=no], textarea, script, style, font";
        if (!node.data.trim() || !parent || parent.closest(stays)) return;
        const font = document.createElement("font");
        font.textContent = `«${node.data}»`;
        node.replaceWith(font);
    };
    const all = (root) => {
        const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
        const texts = [];
        while (walker.nextNode()) texts.push(walker.currentNode);
        if (root instanceof Text) texts.push(root);
        texts.forEach(translate);
    };
    all(document.body);
    new MutationObserver((records) => records.forEach(({ addedNodes }) => addedNodes.forEach(all)))
        .observe(document.body, { childList: true, subtree: true });
}"""


def test_a_translated_page_goes_on_and_what_is_rated_stays_as_it_was_said(page: Page, stage: Stage) -> None:
    enter(page, f"{stage.url}/w/short?worker=translated")
    open_topic(page, "Bread")
    page.evaluate(TRANSLATE)
    counted = page.locator(".chat-count")
    expect(counted).to_have_text("«Messages 0 of 2»")
    message = page.locator("#message")
    for number, line in enumerate(("I bake bread.", "It is good bread."), start=1):
        message.fill(line)
        message.press("Enter")
        expect(page.locator(BUBBLES)).to_have_count(2 * number)
        expect(counted).to_have_text(f"«Messages {number} of 2»")
    assert "«" not in "".join(page.locator(".bubble-text").all_inner_texts())
    assert "«" not in page.locator(".chat-topic-text").inner_text()
    noted = "SELECT kind FROM note WHERE kind = 'page_translated'"
    wait_until(lambda: len(stage.rows(noted)) == 1, "the incident that tells the researcher")
    page.locator(".chat-next button").click()
    page.get_by_role("button", name="Finish and rate").click()
    expect(page.locator(".statement-text").first).to_be_visible()
    assert "«" not in "".join(page.locator(".statement-text").all_inner_texts())
    assert page.locator("html").get_attribute("lang") == "en"


# ---- no place --------------------------------------------------------------------------------


def test_a_full_run_lets_in_who_waits_on_its_page(page: Page, worker: Page, stage: Stage) -> None:
    enter(page, f"{stage.url}/w/filling?worker=first")
    worker.clock.install()
    worker.goto(f"{stage.url}/w/filling?worker=second")
    expect(worker.get_by_role("heading", name="Every place is taken")).to_be_visible()
    page.get_by_role("button", name="Leave the study").click()
    page.get_by_role("dialog").get_by_role("button", name="Leave the study").click()
    expect(page.get_by_role("heading", name="You have left the study")).to_be_visible()
    worker.clock.fast_forward(100_000)
    expect(worker.get_by_role("button", name="I understand")).to_be_visible()
