"""Parse the texts of one conversation in an MTurk answer of the published form.

`dialogueN` is `u: …###b: …###u: …`: the worker's inputs and the bot's replies alternate. The other parts are
marks such as `#0@cooking#4@my dog`: the number of inputs before the mark, then its content.
"""

import re
from collections.abc import Mapping

from qc.loading.speech import Spoken

DIALOGUE, TOPIC, OPINION = "dialogue", "topic", "topic_opinion"
CHANGE, BOT_OPINION = "topic_change_opinion", "topic_chatbot_opinion"
PARTS = (DIALOGUE, TOPIC, OPINION, CHANGE, BOT_OPINION)

_TURN = re.compile(r"###(?=[ub]: |$)")
_MARK = re.compile(r"#(?=\d{1,9}@)")  # a topic may contain # and @

Mark = tuple[int, str]
Said = tuple[list[Spoken], list[Spoken], list[Spoken]]


def spoken(given: Mapping[str, str]) -> Said:
    """Return the exchanges, the topics and the changes of topic from the parts in `given`.

    Raises:
        ValueError: inputs and replies of the dialogue do not alternate, another part does not consist of
            marks, or two related parts have different rounds; the message says so.
    """
    return (
        _exchanges(given.get(DIALOGUE, "")),
        _paired(given, TOPIC, OPINION),
        _paired(given, CHANGE, BOT_OPINION),
    )


def _exchanges(dialogue: str) -> list[Spoken]:
    found: list[Spoken] = []
    for turn in _TURN.split(dialogue.removesuffix("###")):
        author, text = turn[:3], turn[3:]
        if author == "u: ":
            found.append((len(found) + 1, text, None))
        elif author == "b: " and found and found[-1][2] is None:
            found[-1] = (*found[-1][:2], text)
        elif turn:
            raise ValueError(f"{DIALOGUE}: inputs (u:) and replies (b:) do not take turns")
    return found


def _paired(given: Mapping[str, str], one: str, other: str) -> list[Spoken]:
    marks, opinions = (_marks(part, given.get(part, "")) for part in (one, other))
    if [round_ for round_, _ in marks] != [round_ for round_, _ in opinions]:
        raise ValueError(f"{one} and {other} are not of the same rounds")
    pairs = zip(marks, opinions, strict=True)
    return [(round_, what, opinion or None) for (round_, what), (_, opinion) in pairs]


def _marks(part: str, text: str) -> list[Mark]:
    before, *marks = _MARK.split(text)
    if before:
        raise ValueError(f"{part}: does not begin with a mark such as #0@…")
    return [(int(round_), what) for round_, _, what in (mark.partition("@") for mark in marks)]
