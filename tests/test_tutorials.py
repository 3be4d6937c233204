"""The tutorials, as they are typed: each in an empty folder, with one server."""

import shlex
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from bots import load_corpus, open_bot
from tests.bots.support.app_server import completing, running
from tests.bots.support.tiny_models import save_tiny_models
from tests.needs import need_programs
from tests.server.support.prolific import served_prolific
from tests.support.local_process import free_port
from tests.support.typed_page import REPOSITORY, Typist, is_shown

PAGES = REPOSITORY / "docs" / "tutorials"
NewTypist = Callable[[Mapping[str, str], Mapping[str, str]], Typist]


@pytest.fixture
def new_typist(tmp_path: Path) -> Iterator[NewTypist]:
    """A function that returns somebody who types pages, with a port of their own for the server."""
    typists = []

    def started(replaced: Mapping[str, str], environment: Mapping[str, str]) -> Typist:
        quick = {"CANDOR_RUNNING_ANALYSIS": "false", **environment}
        typists.append(Typist(tmp_path, free_port(), replaced, quick))
        return typists[-1]

    yield started
    for typist in typists:
        typist.stop()


def test_the_demo_and_its_report(new_typist: NewTypist, tmp_path: Path) -> None:
    new_typist({}, {}).follow(PAGES / "demo.md")
    assert (tmp_path / "candor-tutorial" / "report" / "report.html").is_file()


@pytest.mark.hf
def test_bots_of_my_own(new_typist: NewTypist, tmp_path: Path) -> None:
    save_tiny_models(tmp_path / "models")
    (tmp_path / "models" / "llama").rename(tmp_path / "models" / "my-bot")
    model = open_bot("builtin:retrieval", load_corpus("builtin:smalltalk"))
    with running(completing(model)) as service:
        replaced = {"http://127.0.0.1:11434": service, "8700": str(free_port())}
        new_typist(replaced, {}).follow(PAGES / "own-bot.md")


def test_a_paid_study(new_typist: NewTypist) -> None:
    """Without its first step, which tests/crowd/test_demo_prolific.py types."""
    with served_prolific() as prolific:
        replaced = {"YOUR_TOKEN": shlex.quote(prolific.token)}
        typist = new_typist(replaced, {"CANDOR_PROLIFIC_API": prolific.url})
        typist.follow(PAGES / "prolific.md", begin="## 2.")
        assert prolific.contract.broken == []


@pytest.mark.tex
def test_from_a_run_to_a_paper(new_typist: NewTypist, tmp_path: Path) -> None:
    need_programs("pdflatex", "bibtex")
    new_typist({}, {}).follow(PAGES / "paper.md")
    assert (tmp_path / "report" / "paper" / "paper.pdf").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("expected", "shown"),
    [
        ("a b\n", True),  # whatever the blanks
        ("a …\nc\n", True),
        ("a b\n…\nd\n", True),
        ("a b\nd\n", False),  # a line is left out
        ("a d\n", False),
        ("a b\n…\na b\n", False),  # the order counts
        ("b\n", False),  # a line is shown from its beginning on
    ],
)
def test_only_what_is_printed_counts_as_shown(expected: str, shown: bool) -> None:
    assert is_shown(expected, "a   b\n\nc\nd\n") is shown
