"""What the server's tests are made of: a small study, bots that behave on purpose, a server in a
thread, and a worker's page that speaks the real protocol over a real WebSocket.

Names in the study are words that occur nowhere else, so that a test of blinding can look for them.
"""

import asyncio
import itertools
import json
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import uvicorn
import yaml
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from bots import Bot, BotError, Chat, Corpus, Reply
from server.access.auth import Auth
from server.app import create_app
from server.bots.lineup import OpenRun, names_of, rules_of, study_card
from server.bots.registry import Registry
from server.config import Settings
from server.db import catalog
from server.db.engine import open_engine
from server.session.plan import QC, plan_conversation
from server.session.state import AssignmentContext, SessionRules, State, fold
from server.study import parse_study

AT = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)
RUN = "harbour"
PATIENCE = 20.0  # seconds until a test gives up waiting for something that should come at once
PERSONAS = [
    ["I breed narwhals in Wichita.", "I own two left shoes."],
    ["I whittle ukuleles at dawn.", "My aunt is a cartographer."],
]
# Four families, of which an assignment meets three; `wombat` and `dugong` have one variant only.
SYSTEMS = {
    "quokka_plain": "quokka",
    "quokka_warm": "quokka",
    "marmot_plain": "marmot",
    "marmot_warm": "marmot",
    "wombat_plain": "wombat",
    "dugong_plain": "dugong",
}
CRITERIA = ("robotic", "fun", "fluent")
RATINGS = {"robotic": 10, "fun": 0, "fluent": 100}
NOBODY = Corpus("none", (), ())


def study_text(**changes: Any) -> str:
    """Return a study file: three systems and a qc bot per assignment, two inputs each, no waiting."""
    study: dict[str, Any] = {
        "name": "lighthouse",
        "title": "A few chats",
        "payment": "Nothing is paid.",
        "systems_per_assignment": 3,
        "qc_per_assignment": 1,
        "minimum_inputs": 2,
        "criteria": [
            {"label": "robotic", "statement": "It was a machine.", "negative": True, "qc": False},
            {"label": "fun", "statement": "It was fun."},
            {"label": "fluent", "statement": "It was fluent."},
        ],
        "personas": PERSONAS,
        "systems": [
            {
                "name": name,
                "family": family,
                "bot": f"{family}://spec",
                "persona": "random" if name.endswith("_warm") else "none",
            }
            for name, family in SYSTEMS.items()
        ],
        "reply_time": {"median": 0, "spread": 0, "longest": 0},
        "simulate": {"quality": dict.fromkeys(SYSTEMS, 0.5)},
    }
    return yaml.safe_dump(study | changes, sort_keys=False, allow_unicode=True)


def rules(**changes: Any) -> SessionRules:
    """Return the rules of the small study."""
    return rules_of(parse_study(study_text(**changes)), NOBODY)


def new_state(
    plan: tuple[str, ...] = ("quokka_plain", QC, "marmot_warm", "wombat_plain"),
    *,
    pace: float = 1.0,
    **changes: Any,
) -> State:
    """Return the state of an assignment that has just been given out."""
    prescribed = rules(**changes)
    context = AssignmentContext("a1", seed=7, reply_pace=pace, code="CODE-1234", return_to=None)
    planned = [
        plan_conversation(prescribed.lineup, context.assignment, context.seed, position, 1, system)
        for position, system in enumerate(plan, start=1)
    ]
    return fold(State(prescribed, context), planned)


# ---- bots ------------------------------------------------------------------------------------


class Echo:
    """Answers at once, with the worker's last words and the number of its reply."""

    async def reply(self, chat: Chat) -> Reply:
        return Reply(f"Reply {chat.replies_given()} to: {chat.turns[-1].text}")


class Says:
    """Answers with the same text whatever is said; the text may be no text at all."""

    def __init__(self, text: Any) -> None:
        self._text = text

    async def reply(self, chat: Chat) -> Reply:
        return Reply(self._text)


class ReturnsNothing:
    """Breaks the contract: returns None."""

    async def reply(self, chat: Chat) -> Any:
        return None


class Raises:
    """Fails with `error` for the first `times` calls, every time if None; echoes afterwards."""

    def __init__(self, error: BaseException, times: int | None = None) -> None:
        self._error = error
        self._left = times
        self.calls = 0

    async def reply(self, chat: Chat) -> Reply:
        self.calls += 1
        if self._left is None or self._left > 0:
            self._left = None if self._left is None else self._left - 1
            raise self._error
        return await Echo().reply(chat)


class Gated:
    """Answers once the gate is open."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.calls = 0

    async def reply(self, chat: Chat) -> Reply:
        self.calls += 1
        while not self.gate.is_set():  # noqa: ASYNC110  (opened from another thread)
            await asyncio.sleep(0.005)
        return await Echo().reply(chat)


BROKEN = Raises(BotError("out of order"))


# ---- a database with a run -------------------------------------------------------------------


def make_run(
    url: str, text: str | None = None, bots: Bot | Mapping[str, Bot] | None = None, slug: str = RUN
) -> OpenRun:
    """Open a run in the migrated database at `url`. `bots`: one for all, or some by system; Echo else."""
    engine = open_engine(url, begin="BEGIN IMMEDIATE")
    with engine.begin() as connection:
        entry = catalog.open_run(connection, text if text is not None else study_text(), slug, AT)
    engine.dispose()
    study = parse_study(entry.yaml)
    names = [*(spec.name for spec in study.systems), QC]
    given: Mapping[str, Bot] = bots if isinstance(bots, Mapping) else dict.fromkeys(names, bots or Echo())
    lineup = {name: given.get(name, Echo()) for name in names}
    return OpenRun(
        id=entry.id,
        slug=entry.slug,
        seed=entry.seed,
        study=study,
        card=study_card(study),
        rules=rules_of(study, NOBODY),
        names=names_of(study),
        bots=lineup,
    )


def query(url: str, sql: str, *values: object) -> list[tuple[Any, ...]]:
    """Return what a reader of its own, outside the server, finds in the database."""
    connection = sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None)
    try:
        return connection.execute(sql, values).fetchall()
    finally:
        connection.close()


def execute(url: str, sql: str, *values: object) -> None:
    """Change the database from outside the server."""
    query(url, sql, *values)


def wait_until(holds: Any, what: str) -> None:
    """Wait for something that happens in another thread."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, f"waited in vain for {what}"
        time.sleep(0.005)


# ---- a server --------------------------------------------------------------------------------


@dataclass
class House:
    """A server in a thread, over one database. `stop` and `start` again is a restart."""

    url: str
    runs: list[OpenRun]
    folder: Path
    settings: dict[str, Any] = field(default_factory=dict)
    auth: Auth = field(default_factory=lambda: Auth("a secret", "researcher-token", 3600))
    registry: Registry = field(default_factory=lambda: Registry(refuse_private=False))

    def start(self) -> None:
        pages = self.folder / "pages"
        (pages / "assets").mkdir(parents=True, exist_ok=True)
        for name in ("worker.html", "desk.html"):
            (pages / name).write_text(f"<!doctype html><title>{name}</title>")
        limits = dict.fromkeys(("joins_per_address", "connections_per_address"), "10000/minute")
        settings = Settings(data=self.folder, database_url=self.url, **(limits | self.settings))
        app = create_app(settings, self.auth, {run.id: run for run in self.runs}, self.registry, pages)
        config = uvicorn.Config(
            app, host="127.0.0.1", port=0, ws="websockets-sansio", ws_max_size=1_048_576, log_config=None
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, name="server")
        self._thread.start()
        wait_until(lambda: self._server.started, "the server")
        self.port: int = self._server.servers[0].sockets[0].getsockname()[1]

    def stop(self) -> None:
        """Stop; nothing happens where it is stopped already."""
        self._server.should_exit = True
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive(), "the server does not stop"

    def http(self, method: str, path: str, **kwargs: Any) -> httpx.Response:
        return httpx.request(method, f"http://127.0.0.1:{self.port}{path}", timeout=PATIENCE, **kwargs)

    def join(self, worker: str | None = None, **fields: Any) -> httpx.Response:
        body = {"run": self.runs[0].slug, **({"worker": worker} if worker else {}), **fields}
        return self.http("POST", "/api/join", json=body)

    def desk(self, path: str, token: str | None = None, method: str = "GET", **kwargs: Any) -> httpx.Response:
        bearer = {"Authorization": f"Bearer {token or self.auth.researcher_token}"}
        return self.http(method, f"/api/desk{path}", headers=bearer, **kwargs)

    def token(self, worker: str) -> str:
        """Join as `worker` and return the token."""
        answer = self.join(worker)
        assert answer.status_code == 200, answer.text
        return str(answer.json()["token"])

    @contextmanager
    def socket(self) -> Iterator["Page"]:
        """A connection on which nothing has been said."""
        with connect(f"ws://127.0.0.1:{self.port}/ws", max_size=None, open_timeout=PATIENCE) as connection:
            yield Page(connection)

    @contextmanager
    def page(self, worker: str = "ann") -> Iterator["Page"]:
        """The page of a worker who has joined, its snapshot received."""
        with self.open(self.token(worker)) as page:
            yield page

    @contextmanager
    def open(self, token: str) -> Iterator["Page"]:
        """A page that says hello with `token`; its first message is in `snapshot`."""
        with self.socket() as page:
            page.send("hello", token=token)
            page.snapshot = page.receive()
            yield page


Message = dict[str, Any]


OF_A_CONVERSATION = {"topic", "say", "topic_change", "end_conversation", "rate"}


class Page:
    """A worker's page at its plainest. `heard` keeps every frame that came.

    It knows by what it hears which conversation it is in and which line is next.
    """

    _ids = itertools.count()

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection
        self.heard: list[str] = []
        self.snapshot: Message = {}
        self.k, self.turn = 1, 0

    def raw(self, frame: str | bytes) -> None:
        self.connection.send(frame)

    def send(self, type_: str, id_: str | None = None, **fields: Any) -> str:
        """Send a message without waiting; return its id."""
        chosen = id_ or f"m{next(self._ids)}"
        where = {"k": self.k} if type_ in OF_A_CONVERSATION else {}
        where |= {"turn": self.turn} if type_ == "say" else {}
        self.raw(json.dumps({"type": type_, "id": chosen, **where, **fields}))
        return chosen

    def receive(self) -> Message:
        frame = self.connection.recv(timeout=PATIENCE)
        assert isinstance(frame, str)
        self.heard.append(frame)
        message: Message = json.loads(frame)
        self._follow(message)
        return message

    def _follow(self, message: Message) -> None:
        match message["type"]:
            case "snapshot" if message["conversation"]:
                self.k, self.turn = message["conversation"]["k"], len(message["conversation"]["turns"])
            case "topic_due":
                self.k, self.turn = message["k"], 0
            case "said":
                self.turn = message["turn"] + 1

    def until(self, type_: str) -> Message:
        """Return the next message of a type; anything unexpected on the way is in `heard`."""
        while (message := self.receive())["type"] != type_:
            assert message["type"] != "error", message
        return message

    def ask(self, type_: str, id_: str | None = None, **fields: Any) -> Message:
        """Send a message; return the `accepted` or the `error` that answers it."""
        sent = self.send(type_, id_, **fields)
        while True:
            message = self.receive()
            if message["type"] in {"accepted", "error"} and message.get("id") == sent:
                return message

    def refused(self, frame: str | bytes) -> Message:
        """Send a raw frame; return the error that answers it."""
        self.raw(frame)
        while (message := self.receive())["type"] == "accepted":
            pass  # of an earlier message that nobody waited for
        assert message["type"] == "error", message
        return message

    def closed(self) -> list[Message]:
        """Return what comes until the server closes the connection."""
        messages = []
        try:
            while True:
                messages.append(self.receive())
        except ConnectionClosed:
            return messages

    # ---- steps of the way, each waiting for what shows that it is done

    def agree(self) -> Message:
        self.send("agree")
        return self.until("topic_due")

    def open_topic(self, text: str | None = "the sea") -> Message:
        self.send("topic", opinion="like", **({"text": text} if text else {}))
        return self.until("conversation_started")

    def say(self, text: str) -> Message:
        self.send("say", text=text)
        return self.until("said")

    def rate(self, then: str = "topic_due") -> Message:
        self.send("rate", ratings=RATINGS)
        return self.until(then)

    def converse(self, inputs: int = 2) -> None:
        """Hold a whole conversation, up to its rating."""
        self.open_topic()
        for number in range(inputs):
            self.say(f"line {number}")
        self.send("end_conversation")
        self.until("rating_due")

    def whole(self, conversations: int = 4) -> Message:
        """Go all the way; return the `completed` message."""
        self.agree()
        for k in range(1, conversations + 1):
            self.converse()
            self.rate("topic_due" if k < conversations else "feedback_due")
        self.send("feedback", text="Thank you.")
        return self.until("completed")


def seconds(n: float) -> timedelta:
    return timedelta(seconds=n)
