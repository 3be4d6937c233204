"""Possible results of a question about a bot."""

from typing import NamedTuple

from bots.conformance.report import Verdict

# Failures and empty replies are asked for again, which workers hardly notice, as long as they are few; so are
# replies that are not quite as they should be.
TOLERATED = 0.10
_QUOTED = 80


class Judgement(NamedTuple):
    """The answer to a question about a bot."""

    verdict: Verdict
    reason: str


def quoted(text: str, longest: int = _QUOTED) -> str:
    """Return `text` on one line, cut to `longest` characters, as it can be shown anywhere."""
    line = " ".join("".join(mark if mark.isprintable() else " " for mark in text).split())
    return line if len(line) <= longest else f"{line[: longest - 1].rstrip()}…"
