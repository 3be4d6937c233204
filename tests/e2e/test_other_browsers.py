"""Tests of the chat with the keyboard open in Firefox and WebKit, as Debian has them; part of `make soak`."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Protocol

import httpx2
import pytest
from websockets.sync.client import ClientConnection, connect

from tests.e2e.stage import Stage
from tests.e2e.test_worker_layout import KEYBOARD_OPEN
from tests.support.local_process import free_port
from tests.support.waiting import PATIENCE, wait_until

pytestmark = [pytest.mark.browser, pytest.mark.soak]

PARTS = (Path(__file__).parent / "chat_bar.js").read_text(encoding="utf-8")


class Tab(Protocol):
    """A worker's page in a browser."""

    def open(self, address: str) -> None: ...

    def resize(self, width: int, height: int) -> None: ...

    def call(self, name: str, *arguments: Any) -> Any:
        """Return what a function of PARTS returns."""
        ...


@contextmanager
def program(package: str, *command: str, **variables: str) -> Iterator[None]:
    if shutil.which(command[0]) is None:
        raise RuntimeError(f"no {command[0]} here. Debian, Ubuntu: apt-get install {package}")
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, stdout=quiet, stderr=quiet, env=os.environ | variables) as process:
        try:
            yield
        finally:
            process.terminate()


class FirefoxTab:
    """A tab of Firefox, by WebDriver BiDi."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection
        self._calls = 0
        self._ask("session.new", capabilities={})
        self._context = self._ask("browsingContext.getTree")["contexts"][0]["context"]

    def open(self, address: str) -> None:
        self._ask("browsingContext.navigate", context=self._context, url=address, wait="complete")

    def resize(self, width: int, height: int) -> None:
        size = {"width": width, "height": height}
        self._ask("browsingContext.setViewport", context=self._context, viewport=size)

    def call(self, name: str, *arguments: Any) -> Any:
        body = f"{PARTS} return JSON.stringify(await parts.{name}(...JSON.parse(given)));"
        result = self._ask(
            "script.callFunction",
            functionDeclaration=f"async (given) => {{ {body} }}",
            awaitPromise=True,
            target={"context": self._context},
            arguments=[{"type": "string", "value": json.dumps(arguments)}],
        )
        assert result["type"] == "success", result
        return json.loads(result["result"].get("value", "null"))

    def _ask(self, method: str, **params: Any) -> Any:
        self._calls += 1
        self._connection.send(json.dumps({"id": self._calls, "method": method, "params": params}))
        while (answer := json.loads(self._connection.recv(timeout=PATIENCE))).get("id") != self._calls:
            pass
        assert answer["type"] == "success", answer
        return answer["result"]


@contextmanager
def firefox(folder: Path, _stage: Stage) -> Iterator[Tab]:
    port = free_port()
    options = ("--headless", "--remote-debugging-port", str(port), "--profile", str(folder))
    with ExitStack() as stack:
        stack.enter_context(program("firefox-esr", "firefox-esr", *options))
        connections: list[ClientConnection] = []

        def listens() -> bool:
            try:
                connections.append(connect(f"ws://127.0.0.1:{port}/session", max_size=None))
            except OSError:
                return False
            return True

        wait_until(listens, "Firefox")
        yield FirefoxTab(stack.enter_context(connections[0]))


class WebkitTab:
    """A frame in a window of WebKit, by its driver: windows of a phone's size are not to be had."""

    def __init__(self, client: httpx2.Client, browser: Path, around: str) -> None:
        self._client = client
        self._around = around
        options = {"binary": str(browser), "args": ["--automation"]}
        wanted = {"capabilities": {"alwaysMatch": {"webkitgtk:browserOptions": options}}}
        self._session = f"/session/{self._ask('POST', '/session', wanted)['sessionId']}"
        self._ask("POST", f"{self._session}/timeouts", {"script": PATIENCE * 1_000})

    def close(self) -> None:
        self._ask("DELETE", self._session)

    def open(self, address: str) -> None:
        self._ask("POST", f"{self._session}/url", {"url": self._around})
        self._run(
            "const frame = document.createElement('iframe');"
            "frame.src = arguments[0]; document.body.append(frame);"
            "frame.style.cssText = 'position: fixed; inset: 0 auto auto 0; z-index: 9; border: 0';"
            "frame.onload = () => done();",
            address,
        )
        self._ask("POST", f"{self._session}/frame", {"id": 0})

    def resize(self, width: int, height: int) -> None:
        self._run(
            "Object.assign(frameElement.style, { width: `${arguments[0]}px`, height: `${arguments[1]}px` });"
            "frameElement.focus(); done();",
            width,
            height,
        )

    def call(self, name: str, *arguments: Any) -> Any:
        then = "then((found) => done([found]), (error) => done(String(error)))"
        found = self._run(f"{PARTS} parts.{name}(...arguments[0]).{then};", arguments)
        assert isinstance(found, list), found
        return found[0]

    def _run(self, script: str, *arguments: Any) -> Any:
        body = {"script": f"const done = arguments[arguments.length - 1]; {script}", "args": arguments}
        return self._ask("POST", f"{self._session}/execute/async", body)

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        answer = self._client.request(method, path, json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()["value"]


@contextmanager
def webkit(folder: Path, stage: Stage) -> Iterator[Tab]:
    port, screen = free_port(), f":{free_port() % 10_000 + 100}"
    variables = {
        "DISPLAY": screen,
        "XDG_DATA_HOME": str(folder),
        "WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS": "1",
    }
    with (
        program("xvfb", "Xvfb", screen, "-screen", "0", "1280x1000x24"),
        program("webkit2gtk-driver", "WebKitWebDriver", "-p", str(port), **variables),
        httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE) as client,
    ):

        def listens() -> bool:
            try:
                return client.get("/status").status_code == 200
            except httpx2.TransportError:
                return False

        wait_until(listens, "WebKit's driver")
        browser = next(Path("/usr/lib").glob("*/webkit2gtk-4.1/MiniBrowser"))
        # Any page of the same origin holds the frame.
        tab = WebkitTab(client, browser, f"{stage.url}/w/closed")
        try:
            yield tab
        finally:
            tab.close()


@pytest.fixture(params=[firefox, webkit], ids=["firefox", "webkit"], scope="module")
def tab(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, stage: Stage
) -> Iterator[Tab]:
    with request.param(tmp_path_factory.mktemp("profile"), stage) as tab:
        yield tab


@pytest.mark.parametrize("language", ["en", "de"])
def test_with_the_keyboard_open_topic_and_count_stand_on_one_bar(
    stage: Stage, tab: Tab, language: str, request: pytest.FixtureRequest
) -> None:
    tab.open(f"{stage.url}/w/ten_{language}?worker={request.node.callspec.id}")
    tab.resize(360, 420)
    tab.call("begin", "Brot backen mit Sauerteig und Körnern am Wochenende")
    for written, counted in ((0, ".chat-inputs"), (10, ".chat-next .button")):
        tab.call("write", written)
        for width, height, letters in KEYBOARD_OPEN:
            tab.resize(width, height)
            found = tab.call("measure", counted, letters)
            assert found["misplaced"] == [], (width, height, found)
            assert found["top"] == pytest.approx(found["header"], abs=0.1), (width, height, found)
            assert found["height"] == 48 if letters == 16 else found["height"] < 70, (width, height, found)
            assert found["topic"] > 3 * letters, (width, height, found)
            assert found["log"] + found["header"] > 100, (width, height, found)
            assert found["fits"], (width, height, found)
