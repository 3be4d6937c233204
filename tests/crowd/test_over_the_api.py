"""From an empty installation to a report, over the REST API alone: what the desk can do, a script can."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml
from websockets.sync.client import connect

from tests.server.support.page import Page
from tests.support.hosted_bot import hosted_bot
from tests.support.server_process import Server
from tests.support.waiting import PATIENCE, wait_until

LABELS = ("fun", "fluent", "lively", "clear", "calm", "kind", "apt")
CONSENT = {
    "version": "1",
    "board": "REC-1",
    "text": "We keep what you write.",
    "boxes": [{"label": "keep", "text": "You may keep what I write."}],
}
STUDY = {
    "name": "blank",
    "title": "Chat with three chatbots",
    "payment": "Nobody is paid.",
    "systems_per_assignment": 2,
    "minimum_inputs": 1,
    "reply_time": {"median": 0.05, "spread": 0.0, "longest": 1.0},
    "texts": {"consent": CONSENT},
    "criteria": [{"label": label, "statement": f"It was {label}."} for label in LABELS],
    "systems": [
        {"name": "mine", "family": "mine", "bot": "mine"},
        {"name": "reflect", "family": "reflect", "bot": "builtin:reflect"},
    ],
}
RATINGS = dict.fromkeys(LABELS, 50)


class Api:
    """The REST API of a server, for its owner."""

    def __init__(self, server: Server) -> None:
        self._url = server.url
        headers = {"Authorization": f"Bearer {server.token}"}
        self._client = httpx2.Client(base_url=f"{server.url}/api", headers=headers, timeout=PATIENCE)

    def get(self, path: str) -> Any:
        return self._good(self._client.get(path))

    def post(self, path: str, **body: Any) -> Any:
        return self._good(self._client.post(path, json=body))

    def fetched(self, path: str) -> bytes:
        """Return what lies at a path of the server's, as somebody without a token gets it."""
        answer = httpx2.get(f"{self._url}{path}", timeout=PATIENCE)
        assert answer.status_code == 200, answer.text
        return answer.content

    def done(self, path: str) -> Any:
        """Return a job once it has come to its end, which is a good one."""
        wait_until(lambda: self.get(path)["status"] not in {"waiting", "running"}, f"{path} to end")
        job = self.get(path)
        assert job["status"] == "done", job["error"]
        return job

    @contextmanager
    def worker(self, run: str, name: str) -> Iterator[Page]:
        """Arrive as a worker; the page is at the instructions."""
        token = self.post("/join", run=run, worker=name)["token"]
        with connect(f"{self._url.replace('http', 'ws')}/ws", open_timeout=PATIENCE) as connection:
            page = Page(connection)
            page.send("hello", token=token)
            page.until("snapshot")
            yield page

    def close(self) -> None:
        self._client.close()

    @staticmethod
    def _good(answer: httpx2.Response) -> Any:
        assert answer.is_success, answer.text
        return answer.json() if answer.content else None


def take_part(page: Page) -> None:
    page.agree(consent="1", ticked=["keep"])
    for number in range(1, 4):
        page.converse(inputs=1)
        page.send("rate", ratings=RATINGS)
        page.until("topic_due" if number < 3 else "feedback_due")
    page.send("feedback", text="")
    page.until("completed")


@pytest.mark.soak  # tests/e2e/test_whole_way goes the same way on the desk
def test_from_an_empty_installation_to_a_report(tmp_path: Path) -> None:
    server = Server(tmp_path, environment={"CANDOR_RUNNING_ANALYSIS": "true"})
    server.start()
    api = Api(server)
    try:
        with hosted_bot() as bot:
            whole_way(api, bot)
    finally:
        api.close()
        server.stop()


def whole_way(api: Api, bot: str) -> None:
    text = yaml.safe_dump(STUDY, sort_keys=False)
    mistakes = api.post("/desk/study-check", yaml=text)["mistakes"]
    assert [each["path"] for each in mistakes] == [["systems", 0, "bot"]]  # there is no bot `mine` yet
    api.post("/desk/studies", name="blank", yaml=text)
    api.post("/desk/bots", name="mine", endpoint={"kind": "http", "urls": [bot]})
    api.post("/desk/bots/mine/check")
    wait_until(lambda: api.get("/desk/bots/mine/check")["state"] != "running", "the check")
    assert api.get("/desk/bots/mine")["check"]["verdict"] != "fail"
    assert api.get("/desk/studies/blank")["mistakes"] == 0

    rehearsal = api.post("/desk/rehearsals", study="blank", workers=8, planned=3, pay=2.0, fee=0.5, seed=1)
    forecast = api.done(f"/desk/runs/{rehearsal['run']}/jobs/{rehearsal['job']}")["forecast"]
    assert forecast["plan"]["workers"] == 3
    assert forecast["cost"] == 3 * 2.0 * 1.5

    api.post("/desk/runs", run="first", study="blank", rules={"target": {"assignments": 20}})
    for name in ("ann", "bob"):
        with api.worker("first", name) as page:
            take_part(page)
    with api.worker("first", "cy") as page:
        page.agree(consent="1", ticked=["keep"])
        page.open_topic()
        page.say("Hello there.")
    shown = api.get("/desk/runs/first")
    assert shown["assignments"] | {"active": 1, "completed": 2} == shown["assignments"]

    left = next(worker for worker in shown["workers"] if worker["status"] == "active")
    api.post(f"/desk/assignments/{left['assignment']}/release", reason="Has left.")
    assert api.get("/desk/runs/first")["assignments"]["active"] == 0

    assert api.post("/desk/runs/first/pause", reason="Lunch.")["status"] == "paused"
    assert api.post("/desk/runs/first/resume")["status"] == "open"
    assert api.post("/desk/runs/first/close")["status"] == "closed"

    begun = api.post("/desk/runs/first/reports")
    report = api.done(f"/desk/runs/first/jobs/{begun['job']}")
    files = {file["name"]: file["path"] for file in report["files"]}
    assert b"<title>" in api.fetched(files["report.html"])
    assert report["signature"].encode() in api.fetched(files["signature.txt"])
