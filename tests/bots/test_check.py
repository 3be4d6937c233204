"""`candor bots check`: with a real server, and from here without one."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bots.check import BOT_TRY, cli
from bots.conformance.script import AT_ONCE, calls, check_language
from bots.serving import ConformanceReport
from server.study import Timeouts
from tests.bots.support.app_server import hosting, running
from tests.bots.support.commands import Command, good, process, refused
from tests.bots.support.wrong_bots import Speaks
from tests.server.support.database import execute, query
from tests.server.support.provider import providing
from tests.server.support.server import House
from tests.server.support.talker import talking
from tests.support.terminal import at_a_terminal
from tests.support.waiting import ENOUGH, wait_until

REPOSITORY = Path(__file__).parents[3]


# ---- by the server ---------------------------------------------------------------------------


def test_the_server_checks_a_bot_and_keeps_the_report(
    register: Command, checking: Command, house: House, person: str, tmp_path: Path
) -> None:
    good(register("add", "mine", "--kind", "http", "--url", person))
    file = tmp_path / "report.json"
    told = good(checking("mine", "--json", file, "--transcripts"))
    assert f"It answered all {calls(AT_ONCE)} calls." in told
    known = check_language("en").characters
    assert sum(f"{character.persona[1]} How about you?" in told for character in known) == 2
    report = ConformanceReport.model_validate_json(file.read_text())
    assert f"mine: {report.verdict}." in told
    ((stored,),) = query(house.url, "SELECT report FROM bot_check WHERE name = 'mine'")
    assert ConformanceReport.model_validate_json(stored) == report


def test_a_check_that_may_cost_money_is_asked_about_first(
    register: Command, checking: Command, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPU_API_KEY", "k3y")
    with providing() as provider:
        where = ["--kind", "openai", "--url", provider.url, "--model", "m", "--key", "GPU_API_KEY"]
        good(register("add", "mine", *where))
        told = checking("mine", "--at-once", "1")
        assert told.exit_code == 2
        said = " ".join(told.stderr.split())
        assert f"The check of “mine” may cost money: - about {calls(1)} calls to “mine” at 127.0.0.1" in said
        assert "no price is set, and the provider may charge" in said
        assert "there is no terminal to ask at. To do it, add --yes" in said
        server = ["--server", f"http://127.0.0.1:{house.port}", "--token", house.auth.researcher_token]
        command = [sys.executable, "-m", "bots.check", "mine", "--at-once", "1", *server]
        code, said = at_a_terminal(command, "n\n")
        assert (code, "Continue?" in said, "nothing was done" in said) == (2, True, True)
        assert provider.asked == 0
        code, said = at_a_terminal(command, "y\n")
        assert "mine: " in said
        asked = provider.asked
        assert asked >= calls(1)
        assert "mine: " in checking("mine", "--at-once", "1", "--yes").stdout
        assert provider.asked > asked


def test_a_bot_that_fails_ends_with_1(register: Command, checking: Command) -> None:
    with running(hosting(Speaks(lambda chat: "I see."))) as url:
        good(register("add", "mine", "--kind", "http", "--url", url))
        result = checking("mine", "--at-once", "1")
    assert result.exit_code == 1
    assert "mine: fail." in result.stdout
    assert 'It says the same to 20 of 20 different lines: "I see.".' in " ".join(result.stdout.split())


def test_the_servers_deadline_and_concurrency_are_used(
    register: Command, checking: Command, person: str
) -> None:
    good(register("add", "mine", "--kind", "http", "--url", person))
    assert f"It answered all {calls(20)} calls." in good(checking("mine", "--at-once", "20"))


def test_a_check_that_cannot_be_stored_is_told(
    register: Command, checking: Command, house: House, person: str
) -> None:
    good(register("add", "mine", "--kind", "http", "--url", person))
    full = "CREATE TRIGGER full BEFORE INSERT ON bot_check BEGIN SELECT raise(FAIL, 'full'); END"
    execute(house.url, full)
    result = checking("mine", "--at-once", "1")
    assert result.exit_code == 2
    # The server's own log is on the same stream, for it runs in the same process here.
    complaint = " ".join(result.stderr.split())
    assert "Error: the check of mine failed: the check broke off" in complaint


def test_a_bot_that_is_deleted_while_it_is_checked(register: Command, house: House) -> None:
    with talking("I am late.") as bot:
        bot.freed.clear()
        good(register("add", "mine", "--kind", "http", "--url", bot.url))
        where = ["--server", f"http://127.0.0.1:{house.port}", "--token", house.auth.researcher_token]
        command = [sys.executable, "-m", "bots.check", "mine", *where]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
            wait_until(lambda: bot.asked == 1, "the first question")
            assert "It is being checked: 0 of 48 calls." in good(register("show", "mine"))
            good(register("delete", "mine", "--yes"))
            _, complaint = process.communicate(timeout=ENOUGH)
    assert process.returncode == 2
    assert "No bot is registered as “mine”" in " ".join(complaint.split())


def test_a_bot_that_is_not_registered_or_disabled_cannot_be_checked(
    register: Command, checking: Command, person: str
) -> None:
    refused(checking("mine"), "No bot is registered as “mine”")
    good(register("add", "mine", "--kind", "http", "--url", person))
    good(register("disable", "mine"))
    refused(checking("mine"), "“mine” is disabled")


def test_without_a_server_a_registered_bot_cannot_be_checked() -> None:
    refused(CliRunner().invoke(cli, ["mine", "--server", "http://127.0.0.1:1", "--token", "t"]), "no answer")


# ---- from here -------------------------------------------------------------------------------


def test_builtin_bots_need_no_server() -> None:
    done = process("bots.check", "builtin:retrieval", folder=REPOSITORY)
    assert done.returncode == 0
    # It looks at the last line only: by chance that may seem to be taken up.
    assert re.search(r"builtin:retrieval: (warn|pass)\.", done.stdout)
    assert "Does it take up what is said?" in done.stdout
    assert "As fast as people type?" not in done.stdout  # there is no study to hold its speed against


@pytest.mark.parametrize("name", ["builtin:retrieval", "qc"])
def test_no_study_is_passed_over_without_a_word(name: str, tmp_path: Path) -> None:
    study = tmp_path / "study.yaml"
    study.write_text("name: seaside\n")
    asked = CliRunner().invoke(cli, [name, "--study", str(study)])
    refused(asked, "--study is for bots that are registered", f"candor study check {study} --bots")


def test_a_bot_that_does_not_exist() -> None:
    refused(CliRunner().invoke(cli, ["builtin:none"]), 'no bot is called "builtin:none"')


def test_a_report_that_cannot_be_written(tmp_path: Path) -> None:
    arguments = ["builtin:reflect", "--json", str(tmp_path / "no" / "such")]
    refused(CliRunner().invoke(cli, arguments), "cannot be written", "--json")


def test_the_deadline_is_that_of_a_study_by_default() -> None:
    assert Timeouts().bot_try == BOT_TRY
