"""Tests of the printed report of a check."""

from dataclasses import replace
from io import StringIO
from typing import Any

from rich.console import Console

from bots.conformance.check import report
from bots.conformance.findings import Standard
from bots.conformance.report import conformance_table, transcript
from bots.conformance.script import CheckResponses, ScriptAnswer
from bots.core.failures import BotTimeout

ANSWERS = (
    ScriptAnswer("small talk", 0, ("I am tall.",), "Hi!", False, 1.25, "[red]Hello[/red]\x1b[2J"),
    ScriptAnswer(
        "small talk", 0, ("I am tall.",), "And?", False, 20.0, error=BotTimeout("no reply [within] 20 s")
    ),
)


def printed(what: Any) -> str:
    console = Console(width=160, file=StringIO())
    with console.capture() as shown:
        console.print(what)
    return " ".join(shown.get().split())


def test_every_finding_is_a_row_with_its_reason() -> None:
    found = report(CheckResponses(ANSWERS, stopped=True), Standard((), (), None, 20.0))
    shown = printed(conformance_table(found))
    for finding in found.findings:
        assert f"{finding.verdict} {finding.question} " in shown
    assert "1 of 2 calls failed, and it was not asked on; 1 of them: no reply [within] 20 s." in shown


def test_a_transcript_shows_what_was_said_and_no_command_to_the_terminal() -> None:
    found = report(CheckResponses(ANSWERS, stopped=True), Standard((), (), None, 20.0))
    assert printed(transcript(found.transcripts[0])) == (
        "small talk, as somebody who says: I am tall. worker Hi! bot [red]Hello[/red] [2J 1.25 s"
        " worker And? bot no reply: no reply [within] 20 s"
    )


def test_a_long_line_is_cut_where_it_is_shown_only() -> None:
    long = replace(ANSWERS[0], text="word " * 300)
    found = report(CheckResponses((long,), stopped=False), Standard((), (), None, 20.0))
    assert found.transcripts[0].lines[1].text == long.text
    assert "…" in printed(transcript(found.transcripts[0]))
