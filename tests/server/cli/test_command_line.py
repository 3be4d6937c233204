"""The command line: what it prints, and how it says what is wrong. A traceback is a defect."""

import json
import re
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import httpx2
import pytest
from typer.testing import CliRunner

from server.bots.opened_bots import OpenedBots
from server.cli.command_line import COMMANDS, FORMER_NAMES, cli
from server.cli.installation import settings_from
from server.cli.serve import listen, prepare
from server.config import Settings
from server.study import DEMO
from tests.needs import need_ipv6
from tests.server.support.commands import REPOSITORY, Candor, assert_refused, process
from tests.server.support.database import query
from tests.support.local_process import free_port
from tests.support.server_process import Server
from tests.support.waiting import ENOUGH


def test_help_names_every_command() -> None:
    done = process("--help")
    assert done.returncode == 0
    listed = re.findall(r"^│ ([a-z-]+)  +[A-Z]", done.stdout, re.MULTILINE)
    assert sorted(listed) == sorted({name.split()[0] for name in COMMANDS})
    for group in ("plan", "data"):
        done = process(group, "--help")
        listed = re.findall(r"^│ ([a-z-]+)  +[A-Z]", done.stdout, re.MULTILINE)
        assert [f"{group} {name}" for name in listed] == [n for n in COMMANDS if n.startswith(group)]


@pytest.mark.parametrize(
    ("former", "new"),
    [
        *(([name, "--help"], new) for name, new in FORMER_NAMES.items()),
        (["plan", "--workers", "100", "--help"], "plan workers"),
        (["plan", "pilot.json", "--help"], "plan workers"),
    ],
    ids=str,
)
def test_a_former_name_still_works_and_says_the_new_one(former: list[str], new: str) -> None:
    told = CliRunner().invoke(cli, former)
    assert told.exit_code == 0, told.output
    assert told.stderr == f"The command `candor {former[0]}` is called `candor {new}` now.\n"
    assert f"Usage: candor {new} " in told.stdout


def test_an_option_before_a_command_is_refused_and_not_ignored() -> None:
    told = CliRunner().invoke(cli, ["--port", "8123", "--data", "elsewhere", "serve"])
    assert told.exit_code == 2
    assert "candor serve --port=8123 --data=elsewhere" in " ".join(told.output.replace("│", " ").split())


def test_the_list_of_commands_loads_none_of_them() -> None:
    """Nothing but typer and what it needs: loading the commands takes seconds."""
    script = (
        "import sys; from server.cli.command_line import cli; cli(['--help'], standalone_mode=False);"
        "print(sorted({name.partition('.')[0] for name in sys.modules} - set(sys.stdlib_module_names)))"
    )
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True)
    loaded = set(re.findall(r"'(\w+)'", done.stdout.splitlines()[-1]))
    assert {"server", "typer"} <= loaded
    assert not loaded & {"bots", "fastapi", "httpx2", "numpy", "pydantic", "qc", "scipy", "sqlalchemy"}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(name: str) -> None:
    done = CliRunner().invoke(cli, [*name.split(), "-h"])
    assert done.exit_code == 0, done.output
    assert f"Usage: candor {name} " in done.stdout


def test_the_version_is_that_of_the_distribution() -> None:
    assert CliRunner().invoke(cli, ["--version"]).stdout == f"candor {version('candor-eval')}\n"


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("candor st", ["study"]),
        ("candor study op", ["open"]),  # a command of an application that is loaded only now
        ("candor study open --ru", ["--run", "--rules"]),
        ("candor data ex", ["export"]),
        ("candor data export --fo", ["--format"]),
        ("candor bundle --fo", []),  # a former name
    ],
)
def test_a_shell_completes_commands_and_options(typed: str, offered: list[str]) -> None:
    words = str(typed.count(" "))
    asked = {"_CANDOR_COMPLETE": "complete_bash", "COMP_WORDS": typed, "COMP_CWORD": words}
    assert CliRunner().invoke(cli, [], env=asked, prog_name="candor").stdout.split() == offered


def test_arguments_reach_a_command_as_they_were_typed() -> None:
    """`--help` and `--` among them."""
    told = CliRunner().invoke(cli, ["data", "convert", "--force", "--", "--run", "x.json"])
    assert told.exit_code == 2
    assert "--run: " in told.output  # the source is called "--run"


def test_the_help_of_serve_lists_every_setting() -> None:
    told = " ".join(CliRunner().invoke(cli, ["serve", "--help"], env={"COLUMNS": "300"}).stdout.split())
    for name, field in Settings.model_fields.items():
        assert f"CANDOR_{name.upper()}: {field.description}" in told


@pytest.mark.parametrize(
    ("module", "named"),
    [("server", "serve"), ("bots", "add"), ("bots.crowd", "--workers"), ("qc.report", "SOURCE")],
)
def test_the_module_forms_are_the_same_commands(module: str, named: str) -> None:
    command = [sys.executable, "-m", module, "--help"]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert named in done.stdout


def test_a_refusal_as_a_user_sees_it(tmp_path: Path) -> None:
    done = process("study", "open", tmp_path / "none.yaml", "--run", "x")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith(f"Error: There is neither a file {tmp_path / 'none.yaml'} nor a stored")
    assert len(done.stderr.splitlines()) == 2  # what, and what to do


def test_an_unknown_command(candor: Candor) -> None:
    assert_refused(candor("fly"), "No such command")


def test_a_good_study_is_fine(candor: Candor) -> None:
    done = candor("study", "check", DEMO)
    assert (done.exit_code, done.stderr) == (0, "")
    assert "is fine" in done.stdout
    assert "6 conversations" in done.stdout


def test_a_bad_study_is_told_line_by_line(candor: Candor, tmp_path: Path) -> None:
    path = tmp_path / "study.yaml"
    path.write_text(
        DEMO.read_text().replace("name: demo", "name: The Demo").replace("label: fun", "label: F!")
    )
    fun = next(n for n, line in enumerate(DEMO.read_text().splitlines(), 1) if "label: fun" in line)
    assert_refused(
        candor("study", "check", path),
        f"{path}:3: name: ",
        f"{path}:{fun}: criteria.2.label: ",
        "candor study check",
    )


def test_brackets_in_a_mistake_are_printed_as_they_are(candor: Candor, tmp_path: Path) -> None:
    path = tmp_path / "study.yaml"
    path.write_text(DEMO.read_text().replace('bot: "builtin:reflect"', 'bot: "builtin:[red]x[/]"'))
    assert_refused(candor("study", "check", path), "builtin:[red]x[/]")


def test_a_study_that_is_not_there(candor: Candor, tmp_path: Path) -> None:
    assert_refused(
        candor("study", "check", tmp_path / "none.yaml"), "none.yaml", "nor a stored study of that name"
    )


def test_a_bot_that_is_not_there(candor: Candor, tmp_path: Path) -> None:
    path = tmp_path / "study.yaml"
    path.write_text(DEMO.read_text().replace("builtin:reflect", "builtin:nobody"))
    assert_refused(candor("study", "check", path), "builtin:nobody", "reflect")


def test_schema_prints_the_protocol() -> None:
    done = process("data", "schema")
    assert done.returncode == 0
    assert json.loads(done.stdout)["title"] == "Wire"


def test_several_processes_on_sqlite_are_refused(candor: Candor, tmp_path: Path) -> None:
    refused = candor("serve", "--processes", "2", "--data", tmp_path / "data")
    assert_refused(
        refused, f"2 processes cannot share the SQLite database of {tmp_path / 'data'}", "CANDOR_DATABASE_URL"
    )
    assert not (tmp_path / "data").exists()


def test_several_processes_without_a_redis_are_refused(candor: Candor, tmp_path: Path) -> None:
    refused = candor("serve", "--processes", "2", "--data", tmp_path, CANDOR_DATABASE_URL="postgresql://h/n")
    assert_refused(refused, "2 processes need a Redis", "CANDOR_REDIS_URL")


# ---- open ------------------------------------------------------------------------------------


def test_opening_a_run_once_twice_and_of_another_study(candor: Candor, tmp_path: Path) -> None:
    data, changed = tmp_path / "data", tmp_path / "changed.yaml"
    opened = candor("study", "open", DEMO, "--run", "first", "--data", data)
    assert opened.exit_code == 0, opened.stderr
    assert re.search(r"http://127\.0\.0\.1:\d+/w/first\n", opened.stdout)
    assert candor("study", "open", DEMO, "--run", "first", "--data", data).exit_code == 0
    changed.write_text(DEMO.read_text() + "# changed\n")
    refused = candor("study", "open", changed, "--run", "first", "--data", data)
    assert_refused(refused, "The run “first” exists, and it is of another version of the study")
    assert query(f"sqlite:///{data / 'candor.db'}", "SELECT slug, status FROM run") == [("first", "open")]


@pytest.mark.parametrize("slug", ["", "two words", "a/b", "../x", "Ärger", "x" * 101, "a?b", "-x"])
def test_a_run_needs_a_name_that_fits_into_a_link(candor: Candor, tmp_path: Path, slug: str) -> None:
    assert_refused(candor("study", "open", DEMO, f"--run={slug}", "--data", tmp_path / "data"), "run")
    assert not (tmp_path / "data").exists() or not query(
        f"sqlite:///{tmp_path / 'data' / 'candor.db'}", "SELECT * FROM run"
    )


def test_opening_a_bad_study_makes_no_database(candor: Candor, tmp_path: Path) -> None:
    assert_refused(
        candor("study", "open", tmp_path / "no.yaml", "--run", "x", "--data", tmp_path / "data"), "no.yaml"
    )
    assert not (tmp_path / "data").exists()


def test_a_run_whose_bots_cannot_be_opened_is_not_stored(candor: Candor, tmp_path: Path) -> None:
    study, data = tmp_path / "study.yaml", tmp_path / "data"
    study.write_text(DEMO.read_text().replace("builtin:reflect", "builtin:nobody"))
    assert_refused(candor("study", "open", study, "--run", "x", "--data", data), "builtin:nobody")
    assert query(f"sqlite:///{data / 'candor.db'}", "SELECT * FROM run") == []


@pytest.mark.parametrize(("name", "texts"), [("questions", 24), ("answers", 24), ("correctness", 16)])
def test_shipped_texts_can_be_rated_at_once(candor: Candor, tmp_path: Path, name: str, texts: int) -> None:
    opened = candor("demo", name, "--data", tmp_path)
    assert f"Run demo-{name} is open with {texts} texts" in opened.stdout
    assert "was opened before" in candor("demo", name, "--data", tmp_path).stdout


def test_listing_the_runs(candor: Candor, tmp_path: Path) -> None:
    data = tmp_path / "data"
    candor("study", "new", "pilot", "--demo", "--data", data)
    assert "There is no run yet" in candor("run", "list", "--data", data).stdout
    candor("study", "delete", "pilot", "--data", data)
    candor("study", "open", DEMO, "--run", "first", "--data", data)
    candor("study", "open", DEMO, "--run", "second", "--data", data)
    candor("run", "close", "first", "--data", data)
    _, *rows = candor("run", "list", "--data", data).stdout.splitlines()
    assert [row.split()[:3] for row in rows] == [["first", "demo", "closed"], ["second", "demo", "open"]]
    _, row = candor("study", "list", "--data", data).stdout.splitlines()
    assert row.split()[:2] == ["demo", "1"]
    assert row.rstrip().endswith("first (closed), second (open)")


def test_closing_a_run(candor: Candor, tmp_path: Path) -> None:
    data = tmp_path / "data"
    candor("study", "open", DEMO, "--run", "first", "--data", data)
    assert candor("run", "close", "first", "--data", data).exit_code == 0
    assert query(f"sqlite:///{data / 'candor.db'}", "SELECT slug, status FROM run") == [("first", "closed")]
    again = candor("study", "open", DEMO, "--run", "first", "--data", data)
    assert_refused(again, "is closed", "`candor run resume first`")
    assert "is open" not in again.output
    assert_refused(candor("run", "close", "second", "--data", data), "There is no run named “second”")


# ---- what stands in the way ------------------------------------------------------------------


@pytest.fixture
def taken() -> Iterator[int]:
    """A port that somebody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


def test_a_port_in_use(candor: Candor, tmp_path: Path, taken: int) -> None:
    refused = candor("serve", "--port", str(taken), "--data", tmp_path / "data")
    assert_refused(refused, f"cannot listen on 127.0.0.1:{taken}", "--port")
    assert not (tmp_path / "data").exists()


def test_a_port_is_taken_from_the_first_moment_on(candor: Candor, tmp_path: Path) -> None:
    """Two servers started at once: the second one says so, though the first is still preparing."""
    with listen(settings_from()):
        assert_refused(candor("serve", "--data", tmp_path / "data"), "cannot listen on 127.0.0.1:")


@pytest.mark.parametrize("host", ["::1", "::"])
def test_a_server_is_reached_by_ipv6(tmp_path: Path, host: str) -> None:
    need_ipv6()
    server = Server(tmp_path, "--host", host)
    server.url = f"http://[::1]:{server.port}"
    server.start()
    try:
        assert httpx2.get(f"{server.url}/healthz").status_code == 200
        assert Settings(data=tmp_path, host=host, port=server.port).own_url == server.url
    finally:
        server.stop()


def test_every_address_is_listened_on_by_ipv4_too(tmp_path: Path) -> None:
    need_ipv6()
    with listen(Settings(data=tmp_path, host="::", port=free_port())) as listening:
        for address in ("127.0.0.1", "::1"):
            socket.create_connection((address, listening.getsockname()[1])).close()


def test_an_address_of_ipv6_stands_in_brackets(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path, host="fd00::2", port=8123)
    assert settings.resolved_public_url == settings.own_url == "http://[fd00::2]:8123"


@pytest.mark.parametrize("host", ["nowhere.invalid", "192.0.2.1"])
def test_an_address_that_is_not_here(candor: Candor, tmp_path: Path, host: str) -> None:
    refused = candor("serve", "--host", host, "--port", "0", "--data", tmp_path / "data")
    assert_refused(refused)


@pytest.mark.parametrize(
    ("name", "value"),
    [("PORT", "http"), ("PORT", "70000"), ("TOKEN_DAYS", "0"), ("EXEMPT_ADDRESSES", "127.0.0.1")],
)
def test_a_setting_that_is_wrong(candor: Candor, tmp_path: Path, name: str, value: str) -> None:
    refused = candor("serve", "--data", tmp_path, **{f"CANDOR_{name}": value})
    assert_refused(refused, name.lower())


@pytest.mark.parametrize("name", ["JOINS_PER_ADDRESS", "MESSAGES_PER_SESSION"])
def test_a_limit_that_is_none(candor: Candor, tmp_path: Path, name: str) -> None:
    refused = candor("serve", "--data", tmp_path, **{f"CANDOR_{name}": "often"})
    assert_refused(refused, name.lower())


REFUSED = [("serve",), ("study", "open", DEMO, "--run", "x")]


@pytest.mark.parametrize("command", REFUSED, ids=["serve", "open"])
@pytest.mark.parametrize(
    "database_url",
    [
        "sqlite:////proc/nowhere/candor.db",
        "sqlite:////dev/null",
        "sqlite:///{folder}",  # a folder where a file should be
        "sqlite:///{folder}/text.db",  # a file that is no database
        "sqlite:///{folder}/text.db/candor.db",  # a file where a folder should be
        "nonsense",
        "oracle://x/y",
        "postgresql+psycopg://127.0.0.1:1/none",
    ],
)
def test_a_database_that_cannot_be_opened(
    candor: Candor, tmp_path: Path, command: tuple[str | Path, ...], database_url: str
) -> None:
    (tmp_path / "text.db").write_text("This is no database, however much of it there may be. " * 100)
    url = database_url.format(folder=tmp_path)
    refused = candor(*command, "--data", tmp_path, CANDOR_DATABASE_URL=url)
    assert_refused(refused, "database", "cannot be opened")


@pytest.mark.parametrize("content", ["", "{", "[]", '{"secret": "x"}'], ids=["empty", "half", "list", "one"])
def test_secrets_that_cannot_be_read(candor: Candor, tmp_path: Path, content: str) -> None:
    (tmp_path / "secrets.json").write_text(content)
    refused = candor("serve", "--data", tmp_path)
    assert_refused(refused, "secrets.json")
    assert (tmp_path / "secrets.json").read_text() == content  # whose tokens they held, nobody can make again


def test_a_broken_run_does_not_stop_the_others(candor: Candor, tmp_path: Path) -> None:
    candor("study", "open", DEMO, "--run", "good", "--data", tmp_path)
    candor("study", "open", DEMO, "--run", "broken", "--data", tmp_path)
    url = f"sqlite:///{tmp_path / 'candor.db'}"
    prepared = prepare(settings_from(data=tmp_path), OpenedBots(refuse_private=False))
    assert [run.slug for run in prepared.values()] == ["good", "broken"]
    # As after an update that no longer has one of a study's bots; runs of the same study share its row.
    query(
        url,
        "INSERT INTO study SELECT 9, name, 'x', replace(yaml, 'builtin:reflect', 'builtin:gone'), "
        "created_at, task, turn_points FROM study",
    )
    query(url, "UPDATE run SET study_id = 9 WHERE slug = 'broken'")
    prepared = prepare(settings_from(data=tmp_path), OpenedBots(refuse_private=False))
    assert [run.slug for run in prepared.values()] == ["good"]
    query(url, "UPDATE run SET study_id = 9")
    assert_refused(candor("serve", "--data", tmp_path), "No run can be served", "builtin:gone")


def test_pages_that_are_not_built(candor: Candor, tmp_path: Path) -> None:
    (tmp_path / "pages" / "worker.html").unlink()
    assert_refused(candor("serve", "--data", tmp_path / "data"), "the pages are not built", "make")


def test_whatever_a_command_writes_is_for_its_user_alone(tmp_path: Path) -> None:
    """The umask of a fresh machine lets everybody read; reports quote what workers said."""
    report, saved = tmp_path / "report", tmp_path / "run.json"
    for arguments in (
        ["report", "docs/examples/first.json", "--out", report],
        ["data", "convert", "docs/examples/first.json", saved],
    ):
        command = [sys.executable, "-m", "server", *map(str, arguments)]
        done = subprocess.run(
            command, cwd=REPOSITORY, umask=0o022, capture_output=True, text=True, timeout=ENOUGH, check=False
        )
        assert done.returncode == 0, done.stderr
    assert stat.S_IMODE(report.stat().st_mode) == 0o700
    files = [*report.iterdir(), saved]
    assert len(files) > 5
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
