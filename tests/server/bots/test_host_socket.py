"""Bot hosts that dial in: frame by frame over a real socket, and as workers meet their bots."""

import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from bots.core.host_protocol import VERSION
from bots.serving import DIAL_IN_PATH, DialInEndpoint
from server.access import tokens
from server.bots import stored_bots
from server.bots.lineup import open_lineup
from server.bots.opened_bots import OpenedBots
from server.db.engine import open_engine
from server.db.runs.runs import open_run
from tests.bots.support.host_process import COMMAND, REPOSITORY
from tests.server.support.database import query
from tests.server.support.server import House
from tests.server.support.study import AT, study_text
from tests.support.waiting import PATIENCE, wait_until

Serve = Callable[..., House]
Message = dict[str, Any]


class RawHost:
    """A bot host that says exactly what a test wants."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection

    def send(self, type_: str, **fields: Any) -> None:
        self.raw(json.dumps({"type": type_, **fields}))

    def raw(self, frame: str | bytes) -> None:
        self._connection.send(frame)

    def receive(self) -> Message:
        message: Message = json.loads(self._connection.recv(timeout=PATIENCE))
        return message

    def until(self, type_: str) -> Message:
        message = self.receive()
        assert message["type"] == type_, message
        return message

    def greet(self, label: str = "gpu") -> None:
        self.send("hello", version=VERSION, label=label)
        self.until("welcome")

    def offer(self, name: str) -> None:
        self.send("offer", name=name)
        assert self.until("offered")["name"] == name

    def reply(self, ask: Message, text: str) -> None:
        self.send("replied", ask=ask["ask"], text=text)

    def refused(self) -> Message:
        """Return why the server closes the connection, which it then does."""
        refusal = self.until("refused")
        with pytest.raises(ConnectionClosed):
            self._connection.recv(timeout=PATIENCE)
        return refusal

    def close(self) -> None:
        self._connection.close()


@contextmanager
def connected(house: House, token: str | None = None) -> Iterator[RawHost]:
    bearer = {"Authorization": f"Bearer {token or house.auth.researcher_token}"}
    with connect(f"ws://127.0.0.1:{house.port}{DIAL_IN_PATH}", additional_headers=bearer) as connection:
        yield RawHost(connection)


@contextmanager
def offering(house: House, *names: str, label: str = "gpu") -> Iterator[RawHost]:
    with connected(house) as host:
        host.greet(label)
        for name in names:
            host.offer(name)
        yield host


def bot(house: House, name: str) -> Message:
    answer = house.desk(f"/bots/{name}")
    content: Message = answer.json()
    assert answer.status_code == 200, content
    return content


def replicas(house: House, name: str) -> list[str]:
    return [replica["url"] for replica in bot(house, name)["replicas"]]


def harbour(url: str, serve: Serve, **changes: Any) -> House:
    """Start a server with a run whose one system is the bot `ours`, which dials in."""
    opened_bots = OpenedBots(refuse_private=False)
    text = study_text(
        systems=[{"name": "parrot", "family": "parrot", "bot": "ours"}],
        systems_per_assignment=1,
        qc_per_assignment=0,
        simulate=None,
        **changes,
    )
    engine = open_engine(url, begin="BEGIN IMMEDIATE")
    with engine.begin() as connection:
        stored_bots.add(connection, "ours", DialInEndpoint(kind="dial-in"), AT)
        opened_bots.load(connection)
        entry = open_run(connection, text, "harbour", AT)
    engine.dispose()
    return serve(url, open_lineup(entry, opened_bots), opened_bots=opened_bots)


@pytest.fixture
def manned(url: str, serve: Serve) -> House:
    """A server with a run of a bot that dials in."""
    return harbour(url, serve)


def lines(house: House) -> list[tuple[Any, ...]]:
    return query(house.url, "SELECT author, turn_index, text FROM turn ORDER BY turn_index")


# ---- who may dial in ---------------------------------------------------------------------------


@pytest.mark.parametrize("token", ["nonsense", "cand_" + "a" * 43])
def test_a_wrong_token_is_refused_for_good(house: House, token: str) -> None:
    with connected(house, token) as host:
        refusal = host.refused()
    assert (refusal["code"], refusal["retry"]) == ("token_invalid", False)


def test_without_a_token_nobody_comes_in(house: House) -> None:
    with connect(f"ws://127.0.0.1:{house.port}{DIAL_IN_PATH}") as connection:
        assert RawHost(connection).refused()["code"] == "token_missing"


def test_the_token_of_a_host_is_enough_until_it_is_revoked(house: House) -> None:
    engine = open_engine(house.url, begin="BEGIN IMMEDIATE")
    with engine.begin() as connection:
        token = tokens.new(connection, "gpu", "host", AT)
    with connected(house, token) as host:
        host.greet()
    with engine.begin() as connection:
        tokens.revoke(connection, "gpu", AT)
    engine.dispose()
    with connected(house, token) as host:
        assert host.refused()["code"] == "token_revoked"


# ---- what they offer ---------------------------------------------------------------------------


def test_what_a_host_offers_is_registered_and_stays_when_it_goes(house: House) -> None:
    with offering(house, "ours", "other", label="gpu-1") as first:
        assert bot(house, "ours")["endpoint"] == {"kind": "dial-in"}
        assert replicas(house, "ours") == replicas(house, "other") == ["dial-in:gpu-1/1"]
        with offering(house, "ours", label="gpu-2"):
            assert replicas(house, "ours") == ["dial-in:gpu-1/1", "dial-in:gpu-2/2"]
        wait_until(lambda: replicas(house, "ours") == ["dial-in:gpu-1/1"], "the second host has gone")
        first.close()
        wait_until(lambda: replicas(house, "ours") == [], "the first host has gone")
    assert bot(house, "ours")["enabled"]


def test_a_name_that_is_taken_or_impossible_is_refused_for_good(house: House) -> None:
    elsewhere = {"name": "fixed", "endpoint": {"kind": "http", "urls": ["http://127.0.0.1:1"]}}
    assert house.desk("/bots", method="POST", json=elsewhere).status_code == 201
    for name, code in (("fixed", "bot_exists"), ("qc", "invalid_request")):
        with offering(house) as host:
            host.send("offer", name=name)
            refusal = host.refused()
            assert (refusal["code"], refusal["retry"]) == (code, False)
            assert f"“{name}”" in refusal["message"]


def test_a_host_is_told_when_its_bot_is_deleted(house: House) -> None:
    with offering(house, "ours") as host:
        assert house.desk("/bots/ours", method="DELETE").status_code == 204
        assert host.until("withdrawn")["name"] == "ours"
        host.send("drain")
        host.until("released")


@pytest.mark.parametrize(
    ("frame", "named"),
    [
        ("", "Invalid JSON"),
        ("{", "Invalid JSON"),
        (b"\xff\xfe", "Invalid JSON"),
        ("[]", "the frame"),
        ('{"type": "sing"}', "sing"),
        ('{"type": "hello", "version": 4, "label": "gpu"}', "`hello` makes no sense here"),
        ('{"type": "offer"}', "name"),
        ('{"type": "offer", "name": "Not a name"}', "name"),
        ('{"type": "offer", "name": "ours"}', "`offer` makes no sense here"),
        ('{"type": "offer", "name": "new", "admin": true}', "admin"),
        ('{"type": "replied", "ask": "one", "text": "x"}', "ask"),
        ('{"type": "replied", "ask": -1, "text": "x"}', "ask"),
        ('{"type": "replied", "ask": 1, "text": 2}', "text"),
        ('{"type": "replied", "ask": 1, "text": "\\ud800"}', "Invalid JSON"),
        (json.dumps({"type": "replied", "ask": 1, "text": "a" * 20_001}), "text"),
        (json.dumps({"type": "failed", "ask": 1, "kind": "error", "reason": "a" * 501}), "reason"),
        ('{"type": "failed", "ask": 1, "kind": "bad mood", "reason": "a"}', "kind"),
        ("[" * 60_000, "Invalid JSON"),
    ],
)
def test_a_frame_that_makes_no_sense_is_answered_and_ends_its_connection_only(
    house: House, frame: str | bytes, named: str
) -> None:
    with offering(house, "ours", label="good"), offering(house, "ours", label="bad") as bad:
        bad.raw(frame)
        refusal = bad.refused()
        assert (refusal["code"], refusal["retry"]) == ("invalid_message", False)
        assert named in refusal["message"]
        wait_until(lambda: replicas(house, "ours") == ["dial-in:good/1"], "the bad host has gone")


def test_a_frame_too_large_ends_the_connection(house: House) -> None:
    with offering(house, "ours") as host:
        host.raw(" " * 1_100_000)
        with pytest.raises(ConnectionClosed):
            host.receive()
    wait_until(lambda: replicas(house, "ours") == [], "the host has gone")


@pytest.mark.parametrize(
    ("first", "named"),
    [
        ('{"type": "offer", "name": "ours"}', "expected `hello` as the first message, got `offer`"),
        (
            '{"type": "hello", "version": 1, "label": "gpu"}',
            "version 4 of dial-in, and the bot host version 1",
        ),
        ('{"type": "hello", "version": 4, "label": "a/b"}', "label"),
    ],
)
def test_a_host_begins_with_hello(house: House, first: str, named: str) -> None:
    with connected(house) as host:
        host.raw(first)
        assert named in host.refused()["message"]


# ---- what they are asked -----------------------------------------------------------------------


def test_a_worker_chats_with_a_bot_that_dialled_in(manned: House) -> None:
    with offering(manned, "ours") as host, manned.page() as page:
        page.agree()
        page.open_topic()
        page.send("say", text="Ahoy!")
        ask = host.until("ask")
        assert (ask["name"], ask["chat"]["turns"]) == ("ours", [{"author": "worker", "text": "Ahoy!"}])
        # Answers to what was never asked, and a second answer, change nothing.
        host.send("replied", ask=999, text="never asked")
        host.send("failed", ask=998, kind="error", reason="never asked")
        host.reply(ask, "Polly speaks.")
        host.reply(ask, "Polly speaks again.")
        assert page.until("said")["text"] == "Polly speaks."
        page.send("say", text="Again?")
        host.reply(host.until("ask"), "No.")
        assert page.until("said")["text"] == "No."
    assert lines(manned) == [
        ("worker", 0, "Ahoy!"),
        ("bot", 1, "Polly speaks."),
        ("worker", 2, "Again?"),
        ("bot", 3, "No."),
    ]


def test_where_replies_of_a_real_host_that_dialled_in_came_from_is_stored(manned: House) -> None:
    address, token = f"ws://127.0.0.1:{manned.port}", manned.auth.researcher_token
    command = [*COMMAND, "builtin:reflect", "--name", "ours", "--server", address, "--token", token]
    host = subprocess.Popen(command, cwd=REPOSITORY)
    try:
        wait_until(lambda: replicas(manned, "ours"), "the host")
        with manned.page() as page:
            page.agree()
            page.open_topic()
            page.say("Hello?")
            page.say("And you?")
    finally:
        host.kill()
        host.wait()
    facts = "model, replica, tries, prompt_hash, tokens_in, cost"
    stored = query(manned.url, f"SELECT DISTINCT {facts} FROM v1_turn WHERE author = 'bot'")  # noqa: S608
    assert [(row[0], row[1][:8], *row[2:]) for row in stored] == [
        ("builtin:reflect", "dial-in:", 1, None, None, None)
    ]
    times = query(manned.url, "SELECT queued_ms, computed_ms, revision FROM v1_turn WHERE author = 'bot'")
    assert len(times) == 2
    assert all(min(queued, computed) >= 0 and revision for queued, computed, revision in times)


def test_when_a_host_is_lost_another_is_asked_within_the_same_try(manned: House) -> None:
    with offering(manned, "ours") as first, manned.page() as page:
        page.agree()
        page.open_topic()
        page.send("say", text="Ahoy!")
        first.until("ask")
        with offering(manned, "ours") as second:
            first.close()
            second.reply(second.until("ask"), "Ara speaks.")
            assert page.until("said")["text"] == "Ara speaks."
    assert query(manned.url, "SELECT count(*) FROM note") == [(0,)]


def test_two_hosts_that_answer_late_do_not_double_a_line(url: str, serve: Serve) -> None:
    """Each is given up after two seconds. The third try is answered, and the others with it."""
    house = harbour(url, serve, timeouts={"bot_try": 2, "bot_total": 60})
    with offering(house, "ours") as host, offering(house, "ours") as other, house.page() as page:
        page.agree()
        page.open_topic()
        page.send("say", text="Ahoy!")
        late = host.until("ask")
        assert host.until("cancel")["ask"] == late["ask"]
        also_late = other.until("ask")
        assert other.until("cancel")["ask"] == also_late["ask"]
        third = host.until("ask")
        host.reply(late, "Polly is late.")
        other.reply(also_late, "Ara is late.")
        host.reply(third, "Polly speaks.")
        assert page.until("said")["text"] == "Polly speaks."
    assert lines(house) == [("worker", 0, "Ahoy!"), ("bot", 1, "Polly speaks.")]


def test_a_model_that_fails_is_asked_again(manned: House) -> None:
    with offering(manned, "ours") as host, manned.page() as page:
        page.agree()
        page.open_topic()
        page.send("say", text="Ahoy!")
        host.send("failed", ask=host.until("ask")["ask"], kind="error", reason="out of words")
        host.send("failed", ask=host.until("ask")["ask"], kind="too_long", reason="too long")
        host.reply(host.until("ask"), "Polly speaks.")
        page.until("said")
        (replica,) = bot(manned, "ours")["replicas"]
        assert (replica["calls"], replica["failures"], replica["last_error"]) == (3, 1, "out of words")
    reasons = query(manned.url, "SELECT text FROM note ORDER BY id")
    assert [reason.rpartition(": ")[2] for (reason,) in reasons] == ["out of words", "too long"]


def test_a_host_that_drains_finishes_and_is_asked_nothing_more(manned: House) -> None:
    with offering(manned, "ours") as leaving, manned.page() as page:
        page.agree()
        page.open_topic()
        page.send("say", text="Ahoy!")
        ask = leaving.until("ask")
        leaving.send("drain")
        leaving.until("released")
        assert replicas(manned, "ours") == []
        leaving.reply(ask, "Goodbye.")
        assert page.until("said")["text"] == "Goodbye."
        with offering(manned, "ours") as staying:
            page.send("say", text="Anybody?")
            staying.reply(staying.until("ask"), "I am here.")
            assert page.until("said")["text"] == "I am here."
    assert query(manned.url, "SELECT count(*) FROM note") == [(0,)]
