"""Tests that lack something are skipped with a remedy, and fail in CI: none is skipped there in silence."""

import re
from pathlib import Path

import pytest

from tests.needs import need_programs
from tests.support import tls_proxy

TESTS = Path(__file__).parent
NEED_SERVICES = (TESTS / "support" / "need-services").read_text()
SOURCES = {path: path.read_text() for path in TESTS.rglob("*.py") if path != Path(__file__)}


def test_a_program_that_is_absent_skips_a_test_and_fails_it_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    need_programs("sh")
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="NO CANDOR-NOWHERE: tests/support/need-services"):
        need_programs("sh", "candor-nowhere")
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="NO CANDOR-NOWHERE: tests/support/need-services"):
        need_programs("sh", "candor-nowhere")


def test_tests_are_skipped_by_what_they_need_alone() -> None:
    skips = re.compile(r"\b(?:skipif|importorskip|pytest\.skip\(|mark\.skip)")
    assert [str(path) for path, source in SOURCES.items() if skips.search(source)] == [
        str(TESTS / "needs.py")
    ]


def test_every_program_that_tests_need_is_installed_for_them() -> None:
    calls = [call for source in SOURCES.values() for call in re.findall(r"need_programs\(([^)]*)\)", source)]
    needed = {name for call in calls for name in re.findall(r'"([\w-]+)"', call)} | set(tls_proxy.KINDS)
    assert {"sqlite3", "nginx", "pdflatex"} <= needed
    # LaTeX comes with BibTeX.
    assert {name for name in needed - {"bibtex"} if f"command -v {name} " not in NEED_SERVICES} == set()
