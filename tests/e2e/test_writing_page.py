"""Tests in a real browser of the page's record of how a message was written: paste, input methods, focus."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, CDPSession, Page, expect

from tests.e2e.hands import BUBBLES, context_of, enter, open_topic
from tests.e2e.stage import Stage

pytestmark = pytest.mark.browser
NUMBERS = ("typed", "composed", "pasted", "pastes", "away")


@pytest.fixture(params=[1280, 360])
def chat(browser: Browser, stage: Stage, request: pytest.FixtureRequest) -> Iterator[Page]:
    """The page of somebody who may write their first line."""
    context = context_of(browser, request.param)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = context.new_page()
    enter(page, f"{stage.url}/w/writing_en?worker={request.node.name.translate(_PLAIN)}")
    open_topic(page)
    yield page
    context.close()


_PLAIN = str.maketrans("[]", "--")


def send(page: Page) -> None:
    before = page.locator(BUBBLES).count()
    page.get_by_label("Your message").press("Enter")
    expect(page.locator(BUBBLES)).to_have_count(before + 2)


def told(stage: Stage, text: str) -> dict[str, int]:
    """Return what is stored of how the line with this text was written, but for how long."""
    columns = ", ".join(f"writing.{name}" for name in NUMBERS)
    query = f"SELECT {columns} FROM writing JOIN turn USING (conversation_id, turn_index) WHERE text = ?"  # noqa: S608
    (row,) = stage.rows(query, text)
    return dict(zip(NUMBERS, row, strict=True))


def paste(page: Page, text: str) -> None:
    page.evaluate("text => navigator.clipboard.writeText(text)", text)
    page.get_by_label("Your message").press("ControlOrMeta+v")


def ime(page: Page) -> CDPSession:
    page.get_by_label("Your message").focus()
    return page.context.new_cdp_session(page)


def nothing(**but: int) -> dict[str, int]:
    return dict.fromkeys(NUMBERS, 0) | but


def test_typing_pasting_and_what_is_taken_out_again(chat: Page, stage: Stage) -> None:
    field = chat.get_by_label("Your message")
    text = f"Hello {chat.viewport_size}"
    field.press_sequentially(f"{text}!")
    field.press("Backspace")
    paste(chat, " A line from elsewhere.")
    send(chat)
    pasted = f"{text} A line from elsewhere."
    assert told(stage, pasted) == nothing(typed=len(text) + 1, pasted=23, pastes=1)
    field.press_sequentially("ok")
    chat.get_by_label("Your message").press("ControlOrMeta+a")
    paste(chat, f"All of it {chat.viewport_size}")  # in the place of what was selected
    send(chat)
    whole = f"All of it {chat.viewport_size}"
    assert told(stage, whole) == nothing(typed=2, pasted=len(whole), pastes=1)


def test_an_input_method_is_no_paste(chat: Page, stage: Stage) -> None:
    """Japanese: kana are shown while they are typed, turned into kanji, and committed as a word."""
    keyboard = ime(chat)
    for shown in ("と", "とう", "とうきょう", "東京"):
        composing = {"text": shown, "selectionStart": len(shown), "selectionEnd": len(shown)}
        keyboard.send("Input.imeSetComposition", composing)
    keyboard.send("Input.insertText", {"text": "東京"})
    keyboard.send(
        "Input.insertText", {"text": f"に行きました{chat.viewport_size}"}
    )  # a suggestion, or speech
    send(chat)
    line = f"東京に行きました{chat.viewport_size}"
    assert told(stage, line) == nothing(composed=len(line))


def test_a_draft_outlives_a_reload_and_focus_is_counted(chat: Page, stage: Stage) -> None:
    line = f"Half {chat.viewport_size} of it"
    chat.get_by_label("Your message").press_sequentially(line[:4])
    for away in (True, False, True, False):
        chat.evaluate(
            """away => {
                document.hasFocus = () => !away;
                window.dispatchEvent(new Event(away ? "blur" : "focus"));
            }""",
            away,
        )
    chat.reload()
    field = chat.get_by_label("Your message")
    expect(field).to_have_value("Half")
    field.press("End")
    field.press_sequentially(line[4:])
    send(chat)
    assert told(stage, line) == nothing(typed=len(line), away=2)


@pytest.mark.parametrize(
    ("language", "said"), [("en", "We record how you write."), ("ja", "入力のしかたを記録します。")]
)
def test_workers_read_it_before_they_agree(page: Page, stage: Stage, language: str, said: str) -> None:
    page.goto(f"{stage.url}/w/writing_{language}?worker=reads")
    expect(page.get_by_text(said)).to_be_visible()


def test_a_study_that_records_nothing_says_nothing_and_sends_nothing(page: Page, stage: Stage) -> None:
    page.goto(f"{stage.url}/w/platform?worker=unrecorded")
    expect(page.get_by_role("button", name="I understand")).to_be_visible()
    expect(page.get_by_text("We record how you write.")).to_have_count(0)
    sent: list[str] = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(str(frame))))
    enter(page, f"{stage.url}/w/platform?worker=unrecorded")
    open_topic(page)
    page.get_by_label("Your message").press_sequentially("Hello")
    send(page)
    assert any('"say"' in frame for frame in sent)
    assert not any("writing" in frame for frame in sent)
