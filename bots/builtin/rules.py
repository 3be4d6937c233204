"""Rules that turn a line into answers to it: a pattern with gaps, and sentences that take up the gaps."""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from typing import Any

from bots.builtin.viewpoint import mirrored
from bots.core.words import sentences

_LONGEST_GAP = 7  # words; more of a worker's line does not read well inside another sentence
_CLAUSE_END = re.compile(r"[.,;:!?]|\b(?:and|but|because|so|when|while|which|who|although|though|if|since)\b")
_POLITE_TAIL = re.compile(
    r"\s+(?:too|though|as well|now|today|right now|at the moment|so much|very much|a lot)$"
)


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern for a sentence, and the answers that fit it; {0} in an answer is the pattern's gap."""

    pattern: re.Pattern[str]
    answers: tuple[str, ...]

    def applied(self, line: str) -> list[str]:
        """Return the answers to `line` with their gaps filled; none if no sentence of it matches."""
        for sentence in sentences(line):
            found = self.pattern.search(sentence.lower().replace("’", "'"))
            if found is None:
                continue
            gaps = [
                _gap(sentence[found.start(at) : found.end(at)]) for at in range(1, len(found.groups()) + 1)
            ]
            if all(gaps):
                return [answer.format(*gaps) for answer in self.answers]
        return []


def _gap(text: str) -> str | None:
    """Return a worker's words as they can stand inside a reply, None if they cannot."""
    clause = _POLITE_TAIL.sub("", _CLAUSE_END.split(text, maxsplit=1)[0].strip())
    return mirrored(clause) if 0 < len(clause.split()) <= _LONGEST_GAP else None


def script(name: str) -> dict[str, Any]:
    """Return the shipped script `name`: lists of sentences by purpose, and under "rules" its rules."""
    content = tomllib.loads(resources.files("bots").joinpath("data", f"{name}.toml").read_text("utf-8"))
    rules = [Rule(re.compile(entry["when"]), tuple(entry["say"])) for entry in content.pop("rule")]
    return {**{key: tuple(value) for key, value in content.items()}, "rules": tuple(rules)}


def answers(rules: tuple[Rule, ...], line: str) -> Iterator[list[str]]:
    """Return the answers of each rule that `line` matches, in the rules' order."""
    return (filled for filled in (rule.applied(line) for rule in rules) if filled)
