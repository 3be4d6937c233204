"""Rules on a line: its dialogue act, and patterns with gaps, whose answers use the gaps' contents."""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from itertools import chain
from typing import Any, Literal

from bots.builtin.parts.terms import TOPICS, topics_of
from bots.core.chat import Chat
from bots.core.words import LINES, sentences, stems, words

Act = Literal["greets", "asks how you are", "asks back", "asks whether", "asks what", "tells", "leaves"]
GREETINGS: tuple[Act, ...] = ("greets", "asks how you are")

_LEAVES = re.compile(
    r"\b(bye|goodbye|good night|goodnight|see you|farewell|take care"
    r"|have a (nice|good|great) (day|night|one))\b"
)
_GREETS = re.compile(r"^(hi|hello|hey|hiya|howdy|greetings|good (morning|afternoon|evening|day))\b")
_HOW_ARE_YOU = re.compile(
    r"\b(how are (you|things)|how's it going|how is it going|how have you been|what's up|how do you do)\b"
)
_LEAD = r"^((and|so|but|oh|well|ok) )?"
_BACK = re.compile(_LEAD + r"((what|how) about (you|yourself|yours)|you|yourself|(do|are|have) you)( too)?$")
_WHAT = re.compile(_LEAD + r"(what|what's|where|where's|when|why|who|who's|which|how|how's|whose)\b")
_WHETHER = re.compile(
    _LEAD + r"(do|does|did|are|is|was|were|have|has|had|can|could|would|will|should|any"
    r"|isn't|aren't|don't|didn't|doesn't|haven't)\b"
)


@lru_cache(maxsize=LINES)
def act(text: str) -> Act:
    """Return the dialogue act of `text`; of several acts, the one that most needs an answer."""
    found = [_sentence_act(part) for part in sentences(text)] or ["tells"]
    wanted: tuple[Act, ...] = (
        "asks back",
        "asks what",
        "asks whether",
        "asks how you are",
        "leaves",
        "greets",
    )
    return next((each for each in wanted if each in found), "tells")


def _sentence_act(sentence: str) -> Act:
    plain = " ".join(words(sentence))
    asks = sentence.rstrip("\"')] ").endswith("?")
    if _HOW_ARE_YOU.search(plain):
        return "asks how you are"
    if _BACK.match(plain) or plain.endswith(("what about you", "how about you", "and you")):
        return "asks back"
    if _WHAT.match(plain) and (asks or " you" in plain):
        return "asks what"
    if asks or (_WHETHER.match(plain) and " you" in plain):
        return "asks whether"
    if _LEAVES.search(plain):
        return "leaves"
    return "greets" if _GREETS.match(plain) else "tells"


def asks(text: str) -> bool:
    """Return whether `text` contains a question."""
    return act(text).startswith("asks")


_SWAPPED = {
    "i": "you", "me": "you", "my": "your", "mine": "yours", "myself": "yourself", "i'm": "you're",
    "i've": "you've", "i'd": "you'd", "i'll": "you'll", "am": "are", "you": "I", "your": "my",
    "yours": "mine", "yourself": "myself", "you're": "I'm", "you've": "I've", "you'd": "I'd",
    "you'll": "I'll", "we": "you", "us": "you", "our": "your", "ours": "yours", "we're": "you're",
    "we've": "you've", "ourselves": "yourselves",
}  # fmt: skip
_WORD = re.compile(r"[\w']+")
_OBJECT_YOU = re.compile(r"\b(to|for|with|about|of|from|at|than|tell|ask|help|see|like|love|know|hate) I\b")
_I_WAS = re.compile(r"\b(?:i|I) was\b")
_ARE_AFTER_I = re.compile(r"\bI are\b")


def mirrored(text: str) -> str:
    """Return `text` with the first and the second person exchanged."""
    plain = _I_WAS.sub("i were", text.replace("’", "'"))
    swapped = _WORD.sub(lambda found: _SWAPPED.get(found[0].lower(), found[0]), plain)
    return _ARE_AFTER_I.sub("I am", _OBJECT_YOU.sub(r"\1 me", swapped))


_LONGEST_GAP = 7  # words; a longer part of a worker's line does not read well inside another sentence
_CLAUSE_END = re.compile(r"[.,;:!?]|\b(?:and|but|because|so|when|while|which|who|although|though|if|since)\b")
_POLITE_TAIL = re.compile(
    r"\s+(?:too|though|as well|now|today|right now|at the moment|so much|very much|a lot)$"
)


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern for a sentence, and its answers; {0} in an answer is the pattern's gap."""

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
    """Return a worker's words in a form that fits into a reply, None if they do not fit."""
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


_OWN = r"\b(my (?!own|opinion|favou?rite|god|name|bad|day|life|mind|way|time)[a-z]{3,})\b"
_LIKED = r"\bi (?:really |also |just |still )*(?:love|like|enjoy|hate) (?!to\b|it\b|that\b|you)(.+)"
_DONE = (
    r"\b(?:learning|studying|playing|cooking|baking|reading|watching|play|cook|bake|watch|read)"
    r" (?!it\b|with\b|at\b|in\b|for\b)(.+)"
)
_PLACE = r"\b(?:live in|moved to|went to|been to|back from|work in|work at|work for|grew up in) (.+)"
_RULES = tuple(Rule(re.compile(pattern), ("{0}",)) for pattern in (_OWN, _LIKED, _DONE, _PLACE))


def mentions(chat: Chat, most: int) -> list[str]:
    """Return up to `most` subjects from the worker's lines before the latest one, and not in it.

    They are worded for use in a reply. Things that the worker named come first, the most recent first; then
    the topics of their lines.
    """
    said = [turn.text for turn in chat.turns if turn.author == "worker"]
    latest = _stems(said[-1]) if said else frozenset()
    named = (phrase for line in reversed(said[:-1]) for phrase in _named(line))
    touched = (TOPICS[topic].label for line in reversed(said[:-1]) for topic in topics_of(line)[:1])
    found: dict[str, None] = {}
    for thing in chain(named, touched):
        if not latest & _stems(thing) - {"your"}:
            found[thing] = None
            if len(found) == most:
                break
    return list(found)


@lru_cache(maxsize=LINES)
def _named(line: str) -> tuple[str, ...]:
    """Return the things that a line names, worded for a reply to its writer."""
    return tuple(phrase for rule in _RULES for phrase in rule.applied(line))


@lru_cache(maxsize=LINES)
def _stems(text: str) -> frozenset[str]:
    return frozenset(stems(text))
