"""Dialogue acts of a line: greeting, question, statement, leave-taking."""

import re
from functools import lru_cache
from typing import Literal

from bots.core.words import LINES, sentences, words

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
