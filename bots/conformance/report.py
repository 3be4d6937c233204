"""The report of a check: its data, its verdict, and its tables."""

from collections.abc import Collection, Iterable, Sequence
from typing import Annotated, Literal, NamedTuple, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator
from rich.box import SIMPLE
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from bots.core.chat import Author

Verdict = Literal["pass", "warn", "fail"]
Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
_BY_WEIGHT: tuple[Verdict, ...] = ("pass", "warn", "fail")


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Finding(_Part):
    """The answer to one question about a bot."""

    question: str
    verdict: Verdict
    reason: str


class Overruns(_Part):
    """How many of a bot's replies to workers came later than their natural reply time."""

    replies: Annotated[int, Field(ge=0)]
    overran: Annotated[int, Field(ge=0)]

    @model_validator(mode="after")
    def _no_more_than_all(self) -> Self:
        if self.overran > self.replies:
            raise ValueError(f"{self.overran} of {self.replies} replies cannot have come late")
        return self


class Alone(_Part):
    """Seconds taken by `n` calls, one after the other; a timed-out call counts with its time."""

    n: Annotated[int, Field(ge=1)]
    p50: Seconds
    p95: Seconds


class AtOnce(Alone):
    """Seconds taken by `n` calls in so many simultaneous `conversations`."""

    conversations: Annotated[int, Field(ge=1)]


class Latency(_Part):
    """Reply times; None if the check ended before measuring them."""

    alone: Alone | None = None
    at_once: AtOnce | None = None


class ReportLine(_Part):
    """A line of a transcript. A bot's line has the `seconds` that it took, or an `error` in its place."""

    author: Author
    text: str
    seconds: Seconds | None = None
    error: str | None = None


class CheckTranscript(_Part):
    """A scripted conversation with the bot's replies."""

    name: str
    persona: tuple[str, ...]
    lines: tuple[ReportLine, ...]


class Scope(_Part):
    """The conditions of a check: the language, and whether the bot had a persona; None: no study said so."""

    language: str
    persona: bool | None


class ConformanceReport(_Part):
    """Whether a bot is fit for workers: the verdict is that of the worst finding.

    `calls`: number of calls. `stopped`: the bot failed so often that the check ended early.
    `expected_overruns`: the share of its replies that would come later than the natural reply time. `scope`:
    the conditions of the check; None in older stored reports.
    """

    version: Literal[1] = 1
    verdict: Verdict
    findings: Annotated[tuple[Finding, ...], Field(min_length=1)]
    latency: Latency
    expected_overruns: Annotated[float, Field(ge=0, le=1)] | None
    calls: Annotated[int, Field(ge=1)]
    stopped: bool
    transcripts: tuple[CheckTranscript, ...]
    scope: Scope | None = None

    @model_validator(mode="after")
    def _as_bad_as_its_worst(self) -> Self:
        if self.verdict != worst(self.findings):
            raise ValueError(f"the verdict is {self.verdict}, that of the worst finding is not")
        return self


def worst(findings: Iterable[Finding]) -> Verdict:
    """Return the verdict of the worst of `findings`."""
    return max((finding.verdict for finding in findings), key=_BY_WEIGHT.index)


_QUOTED = 80


class Judgement(NamedTuple):
    """The verdict on a question about a bot, with its reason.

    `is_open`: it depends on a share so near its limit that more replies are needed (`Limit.is_open`).
    """

    verdict: Verdict
    reason: str
    is_open: bool = False


def quoted(text: str, longest: int = _QUOTED) -> str:
    """Return `text` on one line, cut to `longest` characters, with unprintable characters removed."""
    line = " ".join("".join(mark if mark.isprintable() else " " for mark in text).split())
    return line if len(line) <= longest else f"{line[: longest - 1].rstrip()}…"


_COLOURS: dict[Verdict, str] = {"pass": "green", "warn": "yellow", "fail": "bold red"}
_WIDEST = 200  # characters of a transcript's line that are shown


def conformance_table(report: ConformanceReport) -> Table:
    """Return the findings of one bot as a table, one a row."""
    table = Table("", "question", "finding", box=SIMPLE)
    for finding in report.findings:
        table.add_row(*_cells(finding))
    return table


def verdict_table(bots: Iterable[tuple[str, Sequence[Finding]]], *, whole: Collection[str] = ()) -> Table:
    """Return a table of several bots by name with every finding that did not pass; one row if all passed.

    For the bots in `whole`, every finding is shown.
    """
    table = Table("bot", "verdict", "question", "reason", box=None)
    for bot, findings in bots:
        notable = [finding for finding in findings if bot in whole or finding.verdict != "pass"]
        for finding in notable:
            table.add_row(escape(bot), *_cells(finding))
        if not notable:
            table.add_row(escape(bot), coloured("pass"), f"all {len(findings)} questions passed", "")
    return table


def coloured(verdict: Verdict) -> str:
    """Return a verdict with its colour, as markup."""
    return f"[{_COLOURS[verdict]}]{verdict}[/]"


def _cells(finding: Finding) -> tuple[str, str, str]:
    return coloured(finding.verdict), escape(finding.question), escape(finding.reason)


def transcript(held: CheckTranscript) -> Text:
    """Return a scripted conversation, one line each, with the time of each reply."""
    persona = f", as somebody who says: {' '.join(held.persona)}" if held.persona else ""
    shown = Text(f"\n{held.name}{persona}\n", style="bold")
    for line in held.lines:
        if line.author == "worker":
            shown.append(f"  worker  {quoted(line.text, _WIDEST)}\n", style="dim")
        elif line.error is not None:
            shown.append(f"  bot     no reply: {quoted(line.error, _WIDEST)}\n", style="red")
        else:
            shown.append(f"  bot     {quoted(line.text, _WIDEST)}", style="not bold")
            shown.append(f"  {line.seconds:.2f} s\n", style="dim")
    return shown
