"""`candor bots`, against a real server."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bots.crowd.__main__ import cli as crowd_cli
from bots.register import cli
from server.db.engine import open_engine
from server.db.runs.runs import open_run
from tests.bots.support.commands import Command, good, process, refused
from tests.server.support.database import execute, query
from tests.server.support.server import House
from tests.server.support.study import AT, study_text
from tests.support.terminal import at_a_terminal

NOWHERE = "http://127.0.0.1:1"
REPOSITORY = Path(__file__).parents[3]


def registered(house: House) -> dict[str, Any]:
    rows = query(house.url, "SELECT name, endpoint FROM registration ORDER BY name")
    return {name: json.loads(endpoint) for name, endpoint in rows}


# ---- add -------------------------------------------------------------------------------------


def test_a_bot_of_every_kind_is_registered(
    register: Command, house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPU_API_KEY", "hush-hush")
    prompt = tmp_path / "prompt.txt"
    prompt.write_text("Be brief.\n\n{persona}\n")
    told = good(register("add", "mine", "--kind", "http", "--url", NOWHERE, "--url", "http://127.0.0.1:2/"))
    assert "mine is registered" in told
    assert "candor bots check mine" in told
    good(register("add", "zoo", "--kind", "parlai-web", "--url", NOWHERE))
    options = ["--model", "org/llama-3", "--key", "GPU_API_KEY", "--prompt", f"@{prompt}"]
    more = ["--temperature", "0.7", "--max-tokens", "60"]
    good(register("add", "llama", "--kind", "openai", "--url", f"{NOWHERE}/v1", *options, *more))
    thinks = [
        "--set",
        "reasoning_effort=low",
        "--set",
        "price={input: 1.5, output: 10}",
        "--set",
        "stop=[END]",
    ]
    capped = ["--set", "spending_cap=20", "--set", "extra_body={verbosity: low}"]
    good(register("add", "gpt", "--kind", "openai", "--url", NOWHERE, "--model", "gpt-5", *thinks, *capped))
    good(
        register(
            "add",
            "claude",
            "--kind",
            "anthropic",
            "--model",
            "claude",
            "--key",
            "GPU_API_KEY",
            "--url",
            NOWHERE,
        )
    )
    known = registered(house)
    gpt, claude, llama = (known.pop(name) for name in ("gpt", "claude", "llama"))
    assert (
        gpt.items()
        >= {
            "kind": "openai",
            "urls": [NOWHERE],
            "model": "gpt-5",
            "reasoning_effort": "low",
            "price": {"input": 1.5, "output": 10.0},
            "stop": ["END"],
            "spending_cap": 20.0,
            "extra_body": {"verbosity": "low"},
        }.items()
    )
    assert (claude["kind"], claude["max_tokens"]) == ("anthropic", 1_024)
    assert (
        llama.items()
        >= {
            "kind": "openai",
            "urls": [f"{NOWHERE}/v1"],
            "model": "org/llama-3",
            "key": "GPU_API_KEY",
            "prompt": "Be brief.\n\n{persona}\n",
            "temperature": 0.7,
            "max_tokens": 60,
        }.items()
    )
    assert known == {
        "mine": {"kind": "http", "urls": [NOWHERE, "http://127.0.0.1:2"]},
        "zoo": {"kind": "parlai-web", "urls": [NOWHERE]},
    }


def test_a_bot_that_dials_in_is_told_how(register: Command, house: House) -> None:
    told = good(register("add", "far", "--kind", "dial-in"))
    command = f"candor host hf:FOLDER_OR_HUB_ID --name far --server ws://127.0.0.1:{house.port} --token TOKEN"
    assert command in told
    assert "candor token new --name far --for host" in told
    assert registered(house) == {"far": {"kind": "dial-in"}}


@pytest.mark.parametrize(
    ("command", "options"),
    [(["bots.host"], ("--name", "--server", "--token")), (["server", "token", "new"], ("--name", "--for"))],
)
def test_the_commands_that_are_told_are_known(command: list[str], options: tuple[str, ...]) -> None:
    known = process(*command, "--help", folder=REPOSITORY).stdout
    assert all(option in known for option in options)


@pytest.mark.parametrize(
    "key", ["sk-proj-abc123", "hf_aBcDeF", "AKIAIOSFODNN7EXAMPLE", "Bearer xyz", "ghp 12", "", "1KEY", "é"]
)
def test_what_is_typed_like_a_key_is_neither_sent_nor_shown(
    register: Command, house: House, key: str
) -> None:
    result = register("add", "mine", "--kind", "http", "--url", NOWHERE, "--key", key)
    refused(result, "the name of an environment variable")
    assert not key or key not in result.output
    assert registered(house) == {}


def test_a_key_is_refused_before_anybody_is_asked() -> None:
    """With no server at all the complaint is about the key."""
    arguments = ["add", "x", "--kind", "http", "--key", "sk-1", "--server", NOWHERE, "--token", "t"]
    assert "environment variable" in refused(CliRunner().invoke(cli, arguments))


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--kind", "http"], "--url is needed for --kind http"),
        (["--kind", "openai", "--url", NOWHERE], "--model is needed for --kind openai"),
        (["--kind", "http", "--url", NOWHERE, "--model", "x"], "--model does not apply to --kind http"),
        (["--kind", "dial-in", "--url", NOWHERE], "--url does not apply to --kind dial-in"),
        (["--kind", "parlai-web", "--url", NOWHERE, "--max-tokens", "9"], "--max-tokens does not apply"),
        (["--kind", "http", "--url", "nowhere"], "--url: "),
        (["--kind", "http", "--url", NOWHERE, "--url", NOWHERE], "--url: An address is listed twice"),
        (["--kind", "http", "--url", "http://me:geheim@x.example"], "Remove the user and the password"),
        (["--kind", "openai", "--url", NOWHERE, "--model", "x", "--temperature", "9"], "--temperature: "),
        (["--kind", "openai", "--url", NOWHERE, "--model", "x", "--prompt", "@no/such"], "cannot be read"),
    ],
)
def test_options_that_do_not_fit_are_named(
    register: Command, house: House, arguments: list[str], told: str
) -> None:
    complaint = refused(register("add", "mine", *arguments), told)
    assert "geheim" not in complaint
    assert registered(house) == {}


def test_what_the_server_refuses_is_told_with_what_to_do(register: Command) -> None:
    refused(register("add", "Mine", "--kind", "http", "--url", NOWHERE), "“Mine”", "a-z")
    refused(
        register("add", "mine", "--kind", "http", "--url", NOWHERE, "--key", "NO_SUCH_API_KEY"),
        "NO_SUCH_API_KEY, which should hold its key, is not set",
    )
    refused(
        register("add", "mine", "--kind", "http", "--url", NOWHERE, "--key", "ANOTHER_API_KEY"),
        "may not be sent as a key to 127.0.0.1",
        "CANDOR_BOT_KEYS",
    )
    good(register("add", "mine", "--kind", "http", "--url", NOWHERE))
    refused(register("add", "mine", "--kind", "http", "--url", NOWHERE), "“mine” is registered already")


# ---- list, show ------------------------------------------------------------------------------


def test_no_bot_is_listed(register: Command) -> None:
    assert "No bot is registered" in good(register("list"))


def test_bots_are_listed_with_their_replicas_their_check_and_their_runs(
    register: Command, checking: Command, house: House, person: str
) -> None:
    good(register("add", "mine", "--kind", "http", "--url", person))
    good(register("add", "far", "--kind", "dial-in"))
    good(register("disable", "far"))
    assert checking("mine", "--at-once", "1").exit_code == 0
    system = {"name": "s", "family": "s", "bot": "mine"}
    few = {"systems_per_assignment": 1, "qc_per_assignment": 0, "simulate": None}
    engine = open_engine(house.url, begin="BEGIN IMMEDIATE")
    with engine.begin() as connection:
        open_run(connection, study_text(systems=[system], **few), "atoll", AT)
    engine.dispose()
    lines = [re.split(r"\s{2,}", line.strip()) for line in register("list").stdout.splitlines()]
    cells = {row[0]: row[1:] for row in lines}
    assert cells["far (disabled)"] == ["dial-in", "none", "never", "no open run"]
    kind, replicas, last, used = cells["mine"]
    assert (kind, replicas, used) == ("http", "1 fine", "atoll")
    assert last.split()[0] in {"pass", "warn"}


def test_a_bot_is_shown_whole(register: Command, checking: Command, person: str) -> None:
    good(register("add", "mine", "--kind", "http", "--url", person))
    told = good(register("show", "mine"))
    for words in ("name mine", "kind http", "enabled yes", "last check never", "late replies 0 of 0", person):
        assert words in told
    checking("mine", "--at-once", "1")
    told = good(register("show", "mine"))
    assert "Does it answer? It answered all 34 calls." in told


def test_markup_in_what_a_server_says_is_shown_as_it_is(register: Command, house: House) -> None:
    good(register("add", "mine", "--kind", "openai", "--url", NOWHERE, "--model", "[bold]x[/bold]"))
    assert "model [bold]x[/bold]" in good(register("show", "mine"))


# ---- disable, delete, replicas ---------------------------------------------------------------


def test_a_bot_is_disabled_and_enabled(register: Command) -> None:
    good(register("add", "mine", "--kind", "http", "--url", NOWHERE))
    assert "mine is disabled" in good(register("disable", "mine"))
    assert "enabled no" in good(register("show", "mine"))
    assert "mine is enabled" in good(register("enable", "mine"))
    assert "enabled yes" in good(register("show", "mine"))


@pytest.mark.parametrize(
    ("answer", "code", "left"), [("y\n", 0, []), ("n\n", 2, ["mine"]), ("\n", 2, ["mine"])]
)
def test_deleting_asks_first(
    register: Command, house: House, answer: str, code: int, left: list[str]
) -> None:
    good(register("add", "mine", "--kind", "http", "--url", NOWHERE))
    server = ["--server", f"http://127.0.0.1:{house.port}", "--token", house.auth.researcher_token]
    done, said = at_a_terminal([sys.executable, "-m", "bots.register", "delete", "mine", *server], answer)
    assert (done, "This deletes mine, a bot of kind http." in said) == (code, True), said
    assert list(registered(house)) == left


def test_without_a_terminal_nothing_is_deleted(register: Command, house: House) -> None:
    good(register("add", "mine", "--kind", "http", "--url", NOWHERE))
    done = register("delete", "mine")
    assert done.exit_code == 2, done.output
    assert "there is no terminal to ask at" in done.stderr
    assert "add --yes" in done.stderr
    assert list(registered(house)) == ["mine"]


def test_deleting_without_being_asked(register: Command, house: House) -> None:
    good(register("add", "mine", "--kind", "http", "--url", NOWHERE))
    assert good(register("delete", "mine", "--yes")) == "mine is deleted."
    assert registered(house) == {}


def test_a_bot_of_an_open_run_is_not_deleted(register: Command, house: House) -> None:
    good(register("add", "mine", "--kind", "http", "--url", NOWHERE))
    system = {"name": "s", "family": "s", "bot": "mine"}
    few = {"systems_per_assignment": 1, "qc_per_assignment": 0, "simulate": None}
    engine = open_engine(house.url, begin="BEGIN IMMEDIATE")
    with engine.begin() as connection:
        open_run(connection, study_text(systems=[system], **few), "atoll", AT)
    engine.dispose()
    refused(register("delete", "mine", "--yes"), "“mine” answers in the open run atoll")
    execute(house.url, "UPDATE run SET status = 'closed'")
    good(register("delete", "mine", "--yes"))


def test_replicas_come_and_go(register: Command, house: House) -> None:
    good(register("add", "mine", "--kind", "http", "--url", NOWHERE))
    second = "http://127.0.0.1:2"
    assert f"{second} fine" in good(register("replicas", "add", "mine", second))
    assert registered(house)["mine"]["urls"] == [NOWHERE, second]
    assert NOWHERE not in good(register("replicas", "remove", "mine", NOWHERE)).replace(second, "")
    refused(register("replicas", "remove", "mine", second), "has no other replica")


@pytest.mark.parametrize(
    "arguments",
    [
        ["show", "none"],
        ["enable", "none"],
        ["disable", "none"],
        ["delete", "none", "--yes"],
        ["replicas", "add", "none", NOWHERE],
        ["replicas", "remove", "none", NOWHERE],
    ],
)
def test_a_bot_that_is_not_registered(register: Command, arguments: list[str]) -> None:
    refused(register(*arguments), "No bot is registered as “none”")


def test_a_name_cannot_lead_elsewhere(register: Command, house: House) -> None:
    """A name with slashes in it is one name, not the way to another call."""
    refused(register("delete", "../runs/harbour", "--yes"))
    assert query(house.url, "SELECT slug FROM run") == [("harbour",)]


# ---- the way to the server -------------------------------------------------------------------


def test_the_token_of_this_folder_is_used(
    register: Command, house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    refused(register("list", CANDOR_TOKEN=None), "No researcher's token was given", "--data", "--token")
    (tmp_path / "candor-data").mkdir()
    secrets = tmp_path / "candor-data" / "secrets.json"
    secrets.write_text("[]")
    refused(register("list", CANDOR_TOKEN=None), "No researcher's token was given")
    secrets.write_text(json.dumps({"researcher_token": house.auth.researcher_token}))
    good(register("list", CANDOR_TOKEN=None))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    secrets.rename(elsewhere / "secrets.json")
    refused(register("list", CANDOR_TOKEN=None), "No researcher's token was given")
    good(register("list", "--data", elsewhere, CANDOR_TOKEN=None))
    crowd = CliRunner().invoke(crowd_cli, ["--url", "http://127.0.0.1:9/w/harbour?worker=ada"])
    assert crowd.exit_code != 0
    assert "simulated workers have names of their own" in " ".join(crowd.stderr.split())


def test_a_token_that_is_none(register: Command) -> None:
    refused(register("list", CANDOR_TOKEN="wrong"), "token")
    refused(register("list", CANDOR_TOKEN="wröng"), "characters in it that no token has")


@pytest.mark.parametrize(
    ("server", "told"),
    [
        ("http://127.0.0.1:1", "no answer from http://127.0.0.1:1"),
        ("ws://127.0.0.1:1", "not an address"),
        ("localhost", "not an address"),
    ],
)
def test_a_server_that_is_not_there(server: str, told: str) -> None:
    refused(CliRunner().invoke(cli, ["list", "--server", server, "--token", "t"]), told)


def test_a_server_that_is_no_candor(person: str) -> None:
    """Another server, which answers in JSON of its own."""
    refused(CliRunner().invoke(cli, ["list", "--server", person, "--token", "t"]), "Is it a Candor server")


def test_help_names_every_command() -> None:
    told = process("bots.register", "--help", folder=REPOSITORY).stdout
    for command in ("add", "list", "show", "disable", "enable", "delete", "replicas"):
        assert command in told
