"""Take apart what an MTurk answer of the published form says of one conversation's words.

`dialogueN` is `u: …###b: …###u: …`, the worker's inputs and the bot's replies in turn. The other parts are
marks, `#0@cooking#4@my dog`: the number of inputs before the mark, then what was marked.
"""

import re
from collections.abc import Iterator, Mapping

from qc.load.speech import Spoken

DIALOGUE, TOPIC, OPINION = "dialogue", "topic", "topic_opinion"
CHANGE, BOT_OPINION = "topic_change_opinion", "topic_chatbot_opinion"
PARTS = (DIALOGUE, TOPIC, OPINION, CHANGE, BOT_OPINION)

_TURN = re.compile(r"###(?=[ub]: |$)")
_MARK = re.compile(r"#(?=\d{1,9}@)")  # a topic may hold either sign

Mark = tuple[int, str]


def exchanges(given: Mapping[str, str]) -> list[Spoken]:
    """Return the exchanges of a dialogue.

    Raises:
        ValueError: it is not made of inputs and replies in turn; the message says so.
    """
    found: list[Spoken] = []
    for turn in _TURN.split(given.get(DIALOGUE, "").removesuffix("###")):
        author, text = turn[:3], turn[3:]
        if author == "u: ":
            found.append((len(found) + 1, text, None))
        elif author == "b: " and found and found[-1][2] is None:
            found[-1] = (*found[-1][:2], text)
        elif turn:
            raise ValueError(f"{DIALOGUE}: inputs (u:) and replies (b:) do not take turns")
    return found


def topics(given: Mapping[str, str]) -> list[Spoken]:
    """Return the topics, each with the worker's opinion.

    Raises:
        ValueError: a part is not made of marks, or topics and opinions are not of the same rounds.
    """
    return list(_paired(given, TOPIC, OPINION))


def changes(given: Mapping[str, str]) -> list[Spoken]:
    """Return the changes of topic, each with the opinion that the bot seems to have.

    Raises:
        ValueError: a part is not made of marks, or changes and opinions are not of the same rounds.
    """
    return list(_paired(given, CHANGE, BOT_OPINION))


def _paired(given: Mapping[str, str], one: str, other: str) -> Iterator[Spoken]:
    marks, opinions = (_marks(part, given.get(part, "")) for part in (one, other))
    if [round_ for round_, _ in marks] != [round_ for round_, _ in opinions]:
        raise ValueError(f"{one} and {other} are not of the same rounds")
    for (round_, what), (_, opinion) in zip(marks, opinions, strict=True):
        yield round_, what, opinion or None


def _marks(part: str, text: str) -> list[Mark]:
    before, *marks = _MARK.split(text)
    if before:
        raise ValueError(f"{part}: does not begin with a mark such as #0@…")
    return [(int(round_), what) for round_, _, what in (mark.partition("@") for mark in marks)]
