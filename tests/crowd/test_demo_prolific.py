"""`candor demo prolific`: the whole study, as it is typed."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from server.cli.demo import RUN, cli
from tests.server.support.commands import REPOSITORY, assert_refused, process
from tests.server.support.database import query

DOCUMENT = REPOSITORY / "docs" / "tutorials" / "prolific.md"
OF_THIS_TIME = re.compile("http|candor report|Ctrl|^The data")  # and of the options


def documented() -> list[str]:
    """Return the lines that the tutorial shows of it."""
    found = re.search(
        r"```bash\ncandor demo prolific\n```\n\n```text\n(.*?)```", DOCUMENT.read_text(), re.DOTALL
    )
    assert found is not None
    return lines_of(found[1])


def lines_of(text: str) -> list[str]:
    """Return the lines that are the same each time. Participants end in any order."""
    return sorted(" ".join(line.split()) for line in text.splitlines() if not OF_THIS_TIME.search(line))


def test_a_whole_study_is_played_with_signed_arrivals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CANDOR_DATABASE_URL", "postgresql://nobody@127.0.0.1:1/none")  # of another server
    monkeypatch.setenv("COLUMNS", "200")
    data = tmp_path / "new"
    done = process("demo", "prolific", "--once", "--signed", "--data", data)
    assert done.returncode == 0, done.stdout + done.stderr
    assert lines_of(done.stdout) == documented()
    url = f"sqlite:///{data / 'candor.db'}"
    assert query(url, "SELECT status, count(*) FROM assignment GROUP BY status ORDER BY status") == [
        ("completed", 4),
        ("expired", 2),
        ("returned", 1),
    ]
    assert query(url, "SELECT state FROM bonus_batch") == [("paid",)]
    assert query(url, "SELECT slug FROM run") == [(RUN,)]


@pytest.mark.soak  # only the end differs from the study above
def test_the_decisions_are_left_to_who_asks_for_them(tmp_path: Path) -> None:
    data = tmp_path / "new"
    done = process("demo", "prolific", "--once", "--leave-to-me", "--data", data)
    assert done.returncode == 0, done.stdout + done.stderr
    url = f"sqlite:///{data / 'candor.db'}"
    assert query(url, "SELECT count(*) FROM payment_decision") == [(0,)]
    assert query(url, "SELECT status FROM recruitment") == [("ACTIVE",)]
    assert query(url, "SELECT count(*) FROM submission WHERE status = 'AWAITING REVIEW'") == [(6,)]


def test_it_leaves_a_folder_alone_that_has_something_in_it(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    done = CliRunner().invoke(cli, ["prolific", "--once", "--data", str(tmp_path)])
    assert_refused(done, "is not empty", "--data")
