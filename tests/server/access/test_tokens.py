"""Tokens: made and revoked at the command line, they open and close a server that is running."""

import hashlib
import json
import re
import sqlite3
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from sqlalchemy import Connection
from typer.testing import CliRunner, Result
from websockets.sync.client import connect

from bots.core.host_protocol import VERSION
from bots.serving import DIAL_IN_PATH
from server.access import tokens
from server.access.auth import Auth
from server.access.tokens import Grant, Scope
from server.cli.command_line import cli
from server.db.engine import open_engine
from server.errors import (
    InvalidField,
    NotAuthorised,
    OutOfScope,
    TokenExists,
    TokenInvalid,
    TokenMissing,
    TokenNotFound,
    TokenRevoked,
)
from tests.server.support.database import query
from tests.server.support.server import House
from tests.server.support.study import AT, seconds
from tests.support.waiting import PATIENCE, wait_until

OWN = "the-installation's-own"
Command = Callable[..., Result]


@pytest.fixture
def command(house: House, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Return a function that runs `token …` on the database of a server that is running."""
    monkeypatch.setenv("COLUMNS", "200")
    environment = {"CANDOR_DATABASE_URL": house.url}

    def run(*arguments: str) -> Result:
        given = ["token", *arguments, "--data", str(house.folder)]
        return CliRunner().invoke(cli, given, env=environment)

    return run


def made(done: Result) -> str:
    """Return the token that `token new` printed: all that is on its standard output."""
    assert done.exit_code == 0, done.output
    assert re.fullmatch(r"cand_[A-Za-z0-9_-]{43}\n", done.stdout)
    return done.stdout.strip()


def opens(house: House, token: str) -> tuple[int, str | None]:
    """Return what the researcher's API says to a token: its status, and the code of its error."""
    answer = house.desk("/runs", token)
    return answer.status_code, answer.json().get("error", {}).get("code")


# ---- with a server that is running -----------------------------------------------------------


def test_a_token_opens_the_desk_as_soon_as_it_is_made_until_it_is_revoked(
    house: House, command: Command
) -> None:
    token = made(command("new", "--name", "alice"))
    assert opens(house, token) == (200, None)
    assert command("revoke", "alice").exit_code == 0
    assert opens(house, token) == (401, "token_revoked")
    assert opens(house, house.auth.researcher_token) == (200, None)


def test_a_hosts_token_is_told_that_it_may_only_dial_in(house: House, command: Command) -> None:
    token = made(command("new", "--name", "gpu", "--for", "host"))
    answer = house.desk("/runs", token)
    assert answer.status_code == 403
    assert answer.json() == {
        "error": {
            "code": "out_of_scope",
            "message": "This token is only for bot hosts that connect to the server",
            "hint": "Use a researcher's token (candor token new --name NAME).",
        }
    }


def test_a_hosts_token_lets_no_simulated_worker_in(house: House, command: Command) -> None:
    token = made(command("new", "--name", "gpu", "--for", "host"))
    body = {"run": house.runs[0].slug, "worker": "robot", "simulated": True}
    bearer = {"Authorization": f"Bearer {token}"}
    assert house.http("POST", "/api/join", json=body, headers=bearer).status_code == 403
    assert query(house.url, "SELECT count(*) FROM worker") == [(0,)]


def test_a_researchers_token_lets_simulated_workers_in(house: House, command: Command) -> None:
    token = made(command("new", "--name", "alice"))
    body = {"run": house.runs[0].slug, "worker": "robot", "simulated": True}
    bearer = {"Authorization": f"bearer {token}"}
    assert house.http("POST", "/api/join", json=body, headers=bearer).status_code == 200


def test_no_worker_is_told_whose_token_it_was(house: House, command: Command) -> None:
    """An error names the token's owner to whoever holds the token, and to nobody else."""
    token = made(command("new", "--name", "alice"))
    command("revoke", "alice")
    assert "alice" in house.desk("/runs", token).text
    assert "alice" not in house.desk("/runs", token[:-1] + ("A" if token[-1] != "A" else "B")).text


def test_a_token_is_stored_nowhere(house: House, command: Command) -> None:
    token = made(command("new", "--name", "alice"))
    (row,) = query(house.url, "SELECT name, scope, hash, revoked_at FROM token")
    assert row == ("alice", "researcher", hashlib.sha256(token.encode()).hexdigest(), None)
    kept = b"".join(path.read_bytes() for path in house.folder.rglob("*") if path.is_file())
    assert row[2].encode() in kept  # so the files that were read are the ones that matter
    assert token.encode() not in kept


def test_the_list_shows_everything_but_the_token(house: House, command: Command) -> None:
    assert "no tokens yet" in command("list").stdout
    shown = [made(command("new", "--name", name)) for name in ("alice", "bob")]
    made(command("new", "--name", "gpu", "--for", "host"))
    command("revoke", "bob")
    done = command("list")
    head, *lines = (re.split(r"\s{2,}", line.strip()) for line in done.stdout.splitlines())
    assert head == ["name", "for", "study", "created", "revoked"]
    assert [line[:3] for line in lines] == [
        ["alice", "researcher", "all"],
        ["bob", "researcher", "all"],
        ["gpu", "host", "all"],
    ]
    moment = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC")
    assert [len(line) for line in lines] == [4, 5, 4]  # only of bob's it is said when it was revoked
    assert all(moment.fullmatch(cell) for line in lines for cell in line[3:])
    digests = [digest for (digest,) in query(house.url, "SELECT hash FROM token")]
    assert not any(secret in done.output for secret in [*shown, *digests])


def test_a_name_is_free_again_once_its_token_is_revoked(house: House, command: Command) -> None:
    first = made(command("new", "--name", "alice"))
    refused = command("new", "--name", "alice")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "A token named “alice” exists already" in refused.stderr
    command("revoke", "alice")
    second = made(command("new", "--name", "alice"))
    assert opens(house, second) == (200, None)
    assert opens(house, first) == (401, "token_revoked")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("new", "--name", "two words"), "“two words” cannot be the name of a token"),
        (("new", "--name", ""), "cannot be the name of a token"),
        (("new", "--name", "[red]x[/]"), "“[red]x[/]” cannot be the name"),
        (("new", "--name", "x" * 65), "at most 64"),
        (("new", "--name", "alice", "--for", "everything"), "'researcher'"),
        (("new",), "--name"),
        (("revoke", "nobody"), "No token named “nobody” is in use"),
        (("revoke", "[red]x[/]"), "No token named “[red]x[/]” is in use"),
    ],
)
def test_what_the_command_line_refuses(
    house: House, command: Command, arguments: tuple[str, ...], reason: str
) -> None:
    done = command(*arguments)
    assert isinstance(done.exception, SystemExit)
    assert (done.exit_code, done.stdout) == (2, "")
    assert reason in done.stderr
    assert query(house.url, "SELECT count(*) FROM token") == [(0,)]


def test_a_host_that_is_there_is_turned_out_when_its_token_is_revoked(house: House, command: Command) -> None:
    token = made(command("new", "--name", "gpu", "--for", "host"))
    address = f"ws://127.0.0.1:{house.port}{DIAL_IN_PATH}"
    headers = {"Authorization": f"Bearer {token}"}
    with connect(address, additional_headers=headers, open_timeout=PATIENCE) as host:
        host.send(json.dumps({"type": "hello", "version": VERSION, "label": "gpu1"}))
        host.send(json.dumps({"type": "offer", "name": "llama"}))
        assert [json.loads(host.recv(PATIENCE))["type"] for _ in range(2)] == ["welcome", "offered"]
        command("revoke", "gpu")
        refused = json.loads(host.recv(PATIENCE))
        assert (refused["type"], refused["code"], refused["retry"]) == ("refused", "token_revoked", False)
        assert list(host) == []  # and closed
    wait_until(lambda: house.desk("/bots/llama").json()["replicas"] == [], "its replica to be gone")


# ---- the header ------------------------------------------------------------------------------


class Shelf:
    """Grants by their token's hash; counts how often it was asked."""

    def __init__(self, **grants: Grant) -> None:
        self._grants = {tokens.hashed(token): grant for token, grant in grants.items()}
        self.asked = 0

    async def grant(self, digest: str) -> Grant | None:
        self.asked += 1
        return self._grants.get(digest)

    async def signed_in(self, _digest: str) -> None:
        return None

    async def study_of(self, _named: Mapping[str, str]) -> str | None:
        return None


ALICE, GPU, GONE, LOST = (f"cand_{letter * 43}" for letter in "aghx")


def shelf() -> Shelf:
    return Shelf(
        **{
            ALICE: Grant("alice", "researcher", AT, None),
            GPU: Grant("gpu", "host", AT, None),
            GONE: Grant("gone", "researcher", AT, AT + seconds(1)),
        }
    )


async def refusal(header: str | None, who: Scope, shelf: Shelf) -> NotAuthorised | None:
    """Return how a header is refused; None if it is good."""
    auth = Auth("a secret", OWN, 60, shelf)
    try:
        if who == "host":
            await auth.host(header)
        else:
            (await auth.caller(header)).require("change_runs")
    except NotAuthorised as error:
        return error
    return None


@pytest.mark.parametrize("header", [f"Bearer {OWN}", f"Bearer {ALICE}", f"BEARER {ALICE}"])
async def test_researchers_may_do_everything(header: str) -> None:
    assert await refusal(header, "researcher", shelf()) is None
    assert await refusal(header, "host", shelf()) is None


async def test_hosts_may_dial_in_and_no_more() -> None:
    assert await refusal(f"Bearer {GPU}", "host", shelf()) is None
    assert isinstance(await refusal(f"Bearer {GPU}", "researcher", shelf()), OutOfScope)


@pytest.mark.parametrize(
    ("header", "kind", "says"),
    [
        (None, TokenMissing, "This needs a token"),
        ("", TokenMissing, "This needs a token"),
        ("Bearer", TokenMissing, "contains no token"),
        ("Bearer ", TokenMissing, "contains no token"),
        (f"Basic {ALICE}", TokenMissing, "scheme of the Authorization header is not Bearer"),
        (ALICE, TokenMissing, "scheme of the Authorization header is not Bearer"),
        (f"Bearer {LOST}", TokenInvalid, "not known here"),
        (f"Bearer {ALICE} ", TokenInvalid, "not known here"),
        (f"Bearer  {ALICE}", TokenInvalid, "not known here"),
        (f"Bearer {ALICE}\n", TokenInvalid, "not known here"),
        (f"Bearer {ALICE[:-1]}", TokenInvalid, "not known here"),
        (f"Bearer {OWN}x", TokenInvalid, "not known here"),
        ("Bearer \xff\xfe", TokenInvalid, "not known here"),
        ("Bearer " + "x" * 600, TokenInvalid, "at most 512 characters"),
        (f"Bearer {GONE}", TokenRevoked, "“gone” was revoked"),
    ],
)
@pytest.mark.parametrize("who", ["researcher", "host"])
async def test_every_wrong_header_has_a_reason_of_its_own(
    who: Scope, header: str | None, kind: type[NotAuthorised], says: str
) -> None:
    refused = await refusal(header, who, shelf())
    assert type(refused) is kind
    assert says in refused.message
    assert refused.hint


async def test_the_database_is_asked_only_for_what_could_be_a_token() -> None:
    asked = shelf()
    for header in (None, "Basic x", f"Bearer {OWN}", "Bearer x", "Bearer " + "x" * 9000, f"Bearer {ALICE}x"):
        await refusal(header, "researcher", asked)
    assert asked.asked == 0
    await refusal(f"Bearer {LOST}", "researcher", asked)
    assert asked.asked == 1


# ---- the rows --------------------------------------------------------------------------------


def in_rows(url: str, work: Callable[[Connection], Any]) -> Any:
    engine = open_engine(url, begin="BEGIN IMMEDIATE")
    try:
        with engine.begin() as connection:
            return work(connection)
    finally:
        engine.dispose()


def test_tokens_are_found_by_their_hash(url: str) -> None:
    token = in_rows(url, lambda rows: tokens.new(rows, "gpu", "host", AT))
    found = in_rows(url, lambda rows: tokens.find(rows, tokens.hashed(token)))
    assert (found.name, found.scope, found.revoked_at) == ("gpu", "host", None)
    assert in_rows(url, lambda rows: tokens.find(rows, tokens.hashed(LOST))) is None


def test_no_two_tokens_are_alike(url: str) -> None:
    made = in_rows(url, lambda rows: [tokens.new(rows, f"t{n}", "host", AT) for n in range(20)])
    assert len(set(made)) == 20
    assert all(tokens.is_well_formed(token) for token in made)


def test_the_database_too_refuses_a_second_token_of_a_name(url: str) -> None:
    """Two commands at the same moment: what neither could see, the index does."""
    in_rows(url, lambda rows: tokens.new(rows, "alice", "host", AT))
    with pytest.raises(sqlite3.IntegrityError):
        query(url, "INSERT INTO token SELECT 9, name, scope, 'other', created_at, NULL, NULL FROM token")
    in_rows(url, lambda rows: tokens.revoke(rows, "alice", AT))
    in_rows(url, lambda rows: tokens.new(rows, "alice", "host", AT))


def test_a_revoked_token_cannot_be_revoked_again(url: str) -> None:
    in_rows(url, lambda rows: tokens.new(rows, "alice", "host", AT))
    in_rows(url, lambda rows: tokens.revoke(rows, "alice", AT))
    with pytest.raises(TokenNotFound):
        in_rows(url, lambda rows: tokens.revoke(rows, "alice", AT + seconds(5)))


@pytest.mark.parametrize("name", ["a", "A1", "alice@example.org", "gpu-2_b", "0", "x" * 64])
def test_names_that_are_good(url: str, name: str) -> None:
    in_rows(url, lambda rows: tokens.new(rows, name, "host", AT))
    with pytest.raises(TokenExists):
        in_rows(url, lambda rows: tokens.new(rows, name, "researcher", AT))


@pytest.mark.parametrize("name", ["", " a", "a\n", "-a", ".a", "a/b", "ä", "x" * 65])
def test_names_that_are_not(url: str, name: str) -> None:
    with pytest.raises(InvalidField):
        in_rows(url, lambda rows: tokens.new(rows, name, "host", AT))
