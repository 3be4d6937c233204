"""The how-to pages of recruiting and bots: their commands, typed as they stand there, and their settings."""

import re
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest
import yaml

from server.recruiters.recruiter import Prolific
from server.study import parse_study
from tests.server.support.commands import REPOSITORY, Candor
from tests.server.support.recruiting import Recruiting
from tests.server.support.study import study_text

DOCUMENTS = REPOSITORY / "docs"
HOW_TO = DOCUMENTS / "how-to"
# The pages whose commands a study at Prolific needs, in the order in which one types them.
AT_PROLIFIC = ("run-a-paid-study-on-prolific", "pay-bonuses-once", "learn-of-changes-at-once")
PAGES = [*sorted((HOW_TO / "recruiting").glob("*.md")), *sorted((HOW_TO / "bots").glob("*.md"))]
PAGES += [DOCUMENTS / "explanation" / "qc-bot.md"]


def blocks(page: Path) -> Iterator[tuple[str, str]]:
    """Yield the language and the text of each block of code."""
    for kind, block in re.findall(
        r"^ *```(\w*)\n(.*?)^ *```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    ):
        yield kind, dedent(block)


def commands() -> Iterator[list[str]]:
    """Yield each command of `candor recruit` that stands in a block, in order."""
    for name in AT_PROLIFIC:
        for kind, block in blocks(HOW_TO / "recruiting" / f"{name}.md"):
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
    assert typed == ["create", "publish", "show", "pay", "close", "bonus", "pay-bonus", "listen"]
    found = recruiting.prolific.platform.submission(submission)
    assert (found.status, found.paid, found.bonuses) == ("APPROVED", 450, [150])


SETTINGS = [(page.stem, block) for page in PAGES for kind, block in blocks(page) if kind == "yaml"]


@pytest.mark.parametrize(("page", "block"), SETTINGS)
def test_every_setting_is_one_of_a_study(page: str, block: str) -> None:
    given = yaml.safe_load(block)
    if names := [system["name"] for system in given.get("systems", ())]:
        given |= {
            "systems_per_assignment": 1,
            "qc_per_assignment": 0,
            "simulate": {"quality": dict.fromkeys(names, 0.5)},
        }
    study = parse_study(study_text(**given))
    if page == "accept-signed-arrivals-only":
        assert isinstance(study.recruiter, Prolific)
        assert study.recruiter.signed
