"""Report of a check, as it is stored, sent and shown."""

from collections.abc import Iterable
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

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
    """Seconds that `n` calls took, one after the other; a call that was given up counts with its time."""

    n: Annotated[int, Field(ge=1)]
    p50: Seconds
    p95: Seconds


class AtOnce(Alone):
    """Seconds that `n` calls took with so many `conversations` at once."""

    conversations: Annotated[int, Field(ge=1)]


class Latency(_Part):
    """How long replies took; None where the check was over before."""

    alone: Alone | None = None
    at_once: AtOnce | None = None


class Line(_Part):
    """A line of a transcript. A bot's has the `seconds` that it took, or the `error` that came instead."""

    author: Author
    text: str
    seconds: Seconds | None = None
    error: str | None = None


class Transcript(_Part):
    """A scripted conversation as it went."""

    name: str
    persona: tuple[str, ...]
    lines: tuple[Line, ...]


class Scope(_Part):
    """As whose bot one was checked: in which language, and whether as somebody; None: no study said that."""

    language: str
    persona: bool | None


class ConformanceReport(_Part):
    """Whether a bot is fit for workers: the verdict is that of the worst finding.

    `calls`: how often it was asked. `stopped`: it failed so often that it was not asked everything.
    `expected_overruns`: the share of its replies that would come later than a reply naturally takes.
    `scope`: what it was checked for; None in reports that were stored before that was.
    """

    version: Literal[1] = 1
    verdict: Verdict
    findings: Annotated[tuple[Finding, ...], Field(min_length=1)]
    latency: Latency
    expected_overruns: Annotated[float, Field(ge=0, le=1)] | None
    calls: Annotated[int, Field(ge=1)]
    stopped: bool
    transcripts: tuple[Transcript, ...]
    scope: Scope | None = None

    @model_validator(mode="after")
    def _as_bad_as_its_worst(self) -> Self:
        if self.verdict != worst(self.findings):
            raise ValueError(f"the verdict is {self.verdict}, that of the worst finding is not")
        return self


def worst(findings: Iterable[Finding]) -> Verdict:
    """Return the verdict of the worst of `findings`."""
    return max((finding.verdict for finding in findings), key=_BY_WEIGHT.index)
