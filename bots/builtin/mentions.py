"""What a worker has spoken of earlier, in words that can be put back into a sentence."""

import re

from bots.builtin.rules import Rule
from bots.builtin.topics import TOPICS, topics_of
from bots.core.chat import Chat
from bots.core.words import stems

_OWN = r"\b(my (?!own|opinion|favou?rite|god|name|bad|day|life|mind|way|time)[a-z]{3,})\b"
_LIKED = r"\bi (?:really |also |just |still )*(?:love|like|enjoy|hate) (?!to\b|it\b|that\b|you)(.+)"
_DONE = (
    r"\b(?:learning|studying|playing|cooking|baking|reading|watching|play|cook|bake|watch|read)"
    r" (?!it\b|with\b|at\b|in\b|for\b)(.+)"
)
_PLACE = r"\b(?:live in|moved to|went to|been to|back from|work in|work at|work for|grew up in) (.+)"
_RULES = tuple(Rule(re.compile(pattern), ("{0}",)) for pattern in (_OWN, _LIKED, _DONE, _PLACE))


def mentions(chat: Chat) -> list[str]:
    """Return what the worker spoke of before the latest line and not in it, as said to them.

    Things they named come first, the most recent first; then the topics they touched.
    """
    said = [turn.text for turn in chat.turns if turn.author == "worker"]
    latest = set(stems(said[-1])) if said else set()
    named = [phrase for line in reversed(said[:-1]) for rule in _RULES for phrase in rule.applied(line)]
    touched = [TOPICS[topic].label for line in reversed(said[:-1]) for topic in topics_of(line)[:1]]
    return [thing for thing in dict.fromkeys([*named, *touched]) if not latest & set(stems(thing)) - {"your"}]
