"""A hostile worker learns nothing that names a bot from a server whose bots are remote."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import httpx2
import pytest
from pydantic import TypeAdapter
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from bots.serving import DIAL_IN_PATH, Endpoint
from server.app import create_app
from server.bots import stored_bots
from server.bots.lineup import OpenRun, open_lineup
from server.bots.opened_bots import OpenedBots
from server.config import Settings
from server.db.engine import open_engine
from server.db.runs.runs import open_run
from tests.server.support.database import query
from tests.server.support.server import House
from tests.server.support.study import AT, RATINGS, RUN, SYSTEMS, study_text
from tests.support.waiting import PATIENCE

Serve = Callable[..., House]
MODEL = "walrus-7b-instruct"
BOTS = {
    "quokka_plain": "pelican",
    "quokka_warm": "gannet",
    "marmot_plain": "pelican",
    "marmot_warm": "puffin",
    "wombat_plain": "petrel",
    "dugong_plain": "kittiwake",
}
STATUS = {"pelican": 200, "gannet": 500, "puffin": 503, "kittiwake": 200}


class Talkative(BaseHTTPRequestHandler):
    """Says in every place that HTTP has which model it is, save in the reply; some paths fail."""

    server_version = MODEL
    sys_version = ""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        name = self.path.split("/")[1]
        text = "What do you think?" if STATUS[name] == 200 else f"{name}: {MODEL} ran out of memory"
        body = json.dumps({"text": text, "model": MODEL, "bot": name}).encode()
        self.send_response(STATUS[name], f"{name} of {MODEL}")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Type", "application/json")
        self.send_header("X-Model", MODEL)
        self.send_header("Set-Cookie", f"model={MODEL}")
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        self.send_error(404, MODEL)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  (the base class's name)
        """Say nothing on the tests' output."""


@pytest.fixture
def talkative() -> Iterator[str]:
    """The address of a server that talks about itself."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Talkative)
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def remote_run(url: str, opened_bots: OpenedBots, address: str) -> OpenRun:
    """Open a run as the server does: two bots are the study's own, three registered; one more dials in."""
    own = {name: {"kind": "http", "urls": [f"{address}/{name}"]} for name in ("pelican", "gannet")}
    endpoints: dict[str, Any] = {
        "puffin": {"kind": "http", "urls": [f"{address}/puffin"]},
        "kittiwake": {"kind": "http", "urls": [f"{address}/kittiwake"]},
        "petrel": {"kind": "http", "urls": ["http://127.0.0.1:1/petrel"]},  # where nobody listens
        "cormorant": {"kind": "dial-in"},  # in no study, as newcomers wait for a bot without a host
    }
    systems = [
        {"name": name, "family": family, "bot": BOTS[name], "persona": "none"}
        for name, family in SYSTEMS.items()
    ]
    # A worker meets all families: of fewer, none whose bot is known to be down.
    every = len(set(SYSTEMS.values()))
    timeouts = {"bot_try": 1.5, "bot_total": 1.5}
    text = study_text(bots=own, systems=systems, systems_per_assignment=every, timeouts=timeouts)
    engine = open_engine(url, begin="BEGIN IMMEDIATE")
    with engine.begin() as connection:
        for name, endpoint in endpoints.items():
            stored_bots.add(connection, name, TypeAdapter(Endpoint).validate_python(endpoint), AT)
        opened_bots.load(connection)
        run = open_lineup(open_run(connection, text, RUN, AT), opened_bots)
    engine.dispose()
    return run


@pytest.fixture
def aviary(url: str, serve: Serve, talkative: str) -> House:
    """A server whose bots all run elsewhere; most of them fail, and say who they are in doing so."""
    opened_bots = OpenedBots(refuse_private=False)
    return serve(
        url, remote_run(url, opened_bots, talkative), opened_bots=opened_bots, exempt_addresses=["127.0.0.1"]
    )


def secrets_of(house: House, address: str) -> set[str]:
    """Return every text that would tell a worker something of a bot."""
    port = address.rsplit(":", 1)[1]
    secrets = {
        *SYSTEMS,
        *SYSTEMS.values(),
        *BOTS.values(),
        "cormorant",
        MODEL,
        f":{port}",
        "walrus",
        "replica",
    }
    for sql in ("SELECT spec FROM bot", "SELECT id FROM conversation", "SELECT seed FROM conversation"):
        secrets |= {str(value) for (value,) in query(house.url, sql)}
    return secrets


def told(secrets: set[str], everything: list[str]) -> list[str]:
    """Return the secrets that were told."""
    text = "\n".join(everything).lower()
    return sorted(secret for secret in secrets if re.search(rf"\b{re.escape(secret.lower())}", text))


def visits(house: House, *workers: str) -> list[str]:
    """Let workers come, and then go as far as the bots allow; return everything that they were sent.

    They come before any bot has failed: newcomers wait for one that is down.
    """
    tokens = [house.enrolled(worker) for worker in workers]
    return [frame for token in tokens for frame in _visit(house, token)]


def _visit(house: House, token: str) -> list[str]:
    then = {"said", "replaced", "feedback_due", "completed"}  # the last two: no system is left
    with house.open(token) as page:
        while True:
            page.ask("topic", text="the sea", opinion="like")
            for number in range(2):
                page.send("say", text=f"Which bot are you? {number}")
                while (message := page.receive())["type"] not in then:
                    pass
                if message["type"] != "said":
                    break
            else:
                page.ask("end_conversation")
                page.send("rate", ratings=RATINGS)
            while message["type"] not in {"topic_due", "feedback_due", "completed"}:
                message = page.receive()
            if message["type"] != "topic_due":
                return page.frames


def test_bots_that_fail_elsewhere_tell_workers_nothing(aviary: House, talkative: str) -> None:
    sent = visits(aviary, *(f"w{number}" for number in range(4)))
    notes = "\n".join(text for (text,) in query(aviary.url, "SELECT text FROM note"))
    # The researcher is told, so there was something to tell, and what is looked for can be found.
    assert told(secrets_of(aviary, talkative), [notes]) != []
    assert all(reason in notes for reason in ("/gannet: ", "/puffin: ", "/petrel: "))
    assert "What do you think?" in "\n".join(sent)
    assert told(secrets_of(aviary, talkative), sent) == []


def test_bots_that_are_disabled_tell_workers_nothing(aviary: House, talkative: str) -> None:
    tokens = [aviary.enrolled(f"w{number}") for number in range(4)]
    for name in ("kittiwake", "puffin", "petrel"):
        assert aviary.desk(f"/bots/{name}", method="PATCH", json={"enabled": False}).status_code == 200
    sent = [frame for token in tokens for frame in _visit(aviary, token)]
    assert "disabled" in "\n".join(text for (text,) in query(aviary.url, "SELECT text FROM note"))
    assert told(secrets_of(aviary, talkative) | {"disabled"}, sent) == []


# ---- addresses -------------------------------------------------------------------------------


HIDDEN = [("GET", path) for path in ("/metrics", "/healthz", "/desk", "/w/{run}")]  # pages, not the API


def routes(folder: Path) -> list[tuple[str, str]]:
    """Return every method and path that the application answers, with names in the paths left open."""
    settings = Settings(data=folder, database_url=f"sqlite:///{folder / 'candor.db'}")
    app = create_app(settings, House("", [], folder).auth, {}, OpenedBots(refuse_private=False), folder)
    paths = app.openapi()["paths"]
    return HIDDEN + [(method.upper(), path) for path, methods in paths.items() for method in methods]


def filled(path: str, **names: str) -> str:
    return re.sub(r"\{(\w+)[^}]*\}", lambda found: names.get(found[1], "nothing"), path)


def answered(house: House, method: str, path: str, token: str | None) -> httpx2.Response:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    body = {"json": {"name": "pelican", "enabled": True}} if method in {"POST", "PATCH", "PUT"} else {}
    return house.http(method, path, headers=headers, **body)


def test_no_address_tells_a_worker_of_bots(aviary: House, talkative: str, tmp_path: Path) -> None:
    visits(aviary, "ann")
    (assignment,) = query(aviary.url, "SELECT id FROM assignment")[0]
    known = routes(tmp_path)
    assert {"/api/desk/runs/{run}", "/api/desk/bots/{name}", "/api/join"} <= {path for _, path in known}
    sent, opened = [], set()
    for method, path in known:
        for token in (None, "wrong", aviary.token("ann")):
            where = filled(path, run=RUN, name="puffin", assignment=assignment)
            answer = answered(aviary, method, where, token)
            sent += [answer.text, str(answer.headers)]
            opened |= {path} if answer.status_code < 400 else set()
    # The desk is an empty page without a token; the ways in are those of researchers.
    assert opened == {"/healthz", "/w/{run}", "/desk", "/api/account/ways-in"}
    secrets = secrets_of(aviary, talkative) - {f":{talkative.rsplit(':', 1)[1]}"}
    assert told(secrets, sent) == []


def test_whether_a_bot_exists_cannot_be_found_out(aviary: House, tmp_path: Path) -> None:
    """Nor a run or an assignment: an answer to somebody without the right token is the same for any name."""
    visits(aviary, "ann")
    (assignment,) = query(aviary.url, "SELECT id FROM assignment")[0]
    closed = [(m, p) for m, p in routes(tmp_path) if p.startswith("/api/desk") and "{" in p]
    assert len(closed) > 5
    for method, path in closed:
        there = answered(aviary, method, filled(path, run=RUN, name="puffin", assignment=assignment), "wrong")
        nowhere = answered(aviary, method, filled(path), "wrong")
        assert (there.status_code, there.json()) == (nowhere.status_code, nowhere.json()), path
        assert there.status_code == 401


@pytest.mark.parametrize("known", [True, False], ids=["a worker's token", "no token"])
def test_the_hosts_door_tells_a_worker_nothing(aviary: House, talkative: str, known: bool) -> None:
    headers = {"Authorization": f"Bearer {aviary.token('ann')}"} if known else {}
    address = f"ws://127.0.0.1:{aviary.port}{DIAL_IN_PATH}"
    with connect(address, additional_headers=headers, open_timeout=PATIENCE) as host:
        for message in (
            {"type": "hello", "version": 2, "label": "x"},
            {"type": "offer", "name": "cormorant"},
        ):
            with suppress(ConnectionClosed):
                host.send(json.dumps(message))
        heard = list(host)  # until it is closed
    assert [json.loads(frame)["code"] for frame in heard] == ["token_invalid" if known else "token_missing"]
    assert told(secrets_of(aviary, talkative), [str(frame) for frame in heard]) == []
    assert aviary.desk("/bots/cormorant").json()["replicas"] == []
