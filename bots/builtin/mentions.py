"""Find what a worker mentioned earlier, as words that fit into a sentence."""

import re
from functools import lru_cache
from itertools import chain

from bots.builtin.rules import Rule
from bots.builtin.topics import TOPICS, topics_of
from bots.core.chat import Chat
from bots.core.words import LINES, stems

_OWN = r"\b(my (?!own|opinion|favou?rite|god|name|bad|day|life|mind|way|time)[a-z]{3,})\b"
_LIKED = r"\bi (?:really |also |just |still )*(?:love|like|enjoy|hate) (?!to\b|it\b|that\b|you)(.+)"
_DONE = (
    r"\b(?:learning|studying|playing|cooking|baking|reading|watching|play|cook|bake|watch|read)"
    r" (?!it\b|with\b|at\b|in\b|for\b)(.+)"
)
_PLACE = r"\b(?:live in|moved to|went to|been to|back from|work in|work at|work for|grew up in) (.+)"
_RULES = tuple(Rule(re.compile(pattern), ("{0}",)) for pattern in (_OWN, _LIKED, _DONE, _PLACE))


def mentions(chat: Chat, most: int) -> list[str]:
    """Return what the worker spoke of before the latest line and not in it, as said to them: `most` things.

    Things they named come first, the most recent first; then the topics they touched.
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
    """Return the things that a line names, as said to who wrote it."""
    return tuple(phrase for rule in _RULES for phrase in rule.applied(line))


@lru_cache(maxsize=LINES)
def _stems(text: str) -> frozenset[str]:
    return frozenset(stems(text))
