"""Commands that print untrusted text send no control characters to the terminal."""

import io

import pytest
from rich.table import Table

from bots.conformance.report import CheckTranscript, ReportLine, transcript
from candor.common.terminal import Console

# Colours, a title, a clickable link, the bell, and the same by the single characters above 127.
EVIL = "\x1b[31mred\x1b]0;title\x07\x1b]8;;http://evil.example\x1b\\link\x9b2J\x08\x7f\r"


def printed(*what: object) -> str:
    out = io.StringIO()
    Console(file=out, width=200).print(*what)
    return out.getvalue()


def table() -> Table:
    built = Table("bot", EVIL)
    built.add_row("mine", EVIL)
    return built


def held() -> CheckTranscript:
    lines = (
        ReportLine(author="worker", text=EVIL),
        ReportLine(author="bot", text=EVIL, seconds=1.0),
        ReportLine(author="bot", text="", seconds=1.0, error=EVIL),
    )
    return CheckTranscript(name="small talk", persona=(EVIL,), lines=lines)


@pytest.mark.parametrize("what", [EVIL, f"[bold]{EVIL}[/]", table(), transcript(held())])
def test_nothing_that_is_printed_speaks_to_the_terminal(what: object) -> None:
    shown = printed(what)
    assert "red" in shown
    assert not {mark for mark in shown if mark != "\n" and (mark < " " or "\x7f" <= mark <= "\x9f")}


def test_lines_and_tabs_stay() -> None:
    assert printed("one\ttwo\nthree").split() == ["one", "two", "three"]
