"""docs/recruiting.md: its commands, typed as they stand there, and its settings."""

import re
from collections.abc import Iterator

import pytest
import yaml

from server.recruiters.recruiter import Prolific
from server.study import parse_study
from tests.server.support.commands import REPOSITORY, Candor
from tests.server.support.recruiting import Recruiting
from tests.server.support.study import study_text

TEXT = (REPOSITORY / "docs" / "recruiting.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)


def commands() -> Iterator[list[str]]:
    """Yield each command of `candor recruit` that stands in a block, in order."""
    for kind, block in BLOCKS:
        lines = [line.split() for line in block.splitlines() if line.startswith("candor recruit ")]
        assert kind == "" or not lines, block
        yield from lines


def test_every_command_does_what_is_written(
    recruiting: Recruiting, candor: Candor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CANDOR_DATABASE_URL", recruiting.house.url)
    monkeypatch.setenv("CANDOR_PROLIFIC_TOKEN", recruiting.prolific.token)
    monkeypatch.setenv("CANDOR_PROLIFIC_API", recruiting.prolific.url)
    typed, submission = [], ""
    for command in commands():
        put_in = {"pilot": recruiting.run, "65f0…": submission}
        done = candor(*(put_in.get(word, word) for word in command[1:]))
        assert done.exit_code == 0, (command, done.output)
        typed.append(command[2])
        if command[2] == "publish":
            submission = recruiting.finish("PID-ann")
    assert typed == ["create", "publish", "show", "pay", "bonus", "pay-bonus", "close", "listen"]
    found = recruiting.prolific.platform.submission(submission)
    assert (found.status, found.paid, found.bonuses) == ("APPROVED", 450, [150])


@pytest.mark.parametrize("block", [block for kind, block in BLOCKS if kind == "yaml"])
def test_every_setting_is_one_of_a_study(block: str) -> None:
    study = parse_study(study_text(**yaml.safe_load(block)))
    assert isinstance(study.recruiter, Prolific)
    assert study.recruiter.signed
