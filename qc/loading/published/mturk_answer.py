"""Parse the answer of an MTurk assignment in the published form into its conversations.

An answer is an object of texts. `taskN`, `seedN` and `scoreN` are the family, the persona and the ratings of
conversation N; ratings are written as `90#60#70#`.

`dialogueN` is `u: …###b: …###u: …`: the worker's inputs and the bot's replies alternate. The other parts are
marks such as `#0@cooking#4@my dog`: the number of inputs before the mark, then its content.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic_core import from_json

from qc.errors import REPAIR, Problem, quoted
from qc.formats.published import ANSWER, LAST_PERSONA_SEED, NO_FEEDBACK, PERSONA_SUFFIX, QC_TASK
from qc.loading.frames import Spoken

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


_PART = re.compile(r"(task|seed|score)(\d+)")


@dataclass(frozen=True)
class ConversationAnswer:
    """One conversation in an answer. Its methods return None for an invalid value, and add a problem."""

    where: str
    number: int
    answer: dict[str, object]
    problems: list[Problem]

    def fault(self, why: str, remedy: str = REPAIR) -> None:
        """Add a problem of this conversation."""
        self.problems.append(Problem(self.where, why, remedy))

    def text(self, key: str) -> str | None:
        """Return the text whose key is `key` followed by the number of the conversation."""
        return text_of(self.answer, f"{key}{self.number}", self.where, self.problems)

    def system(self, families: set[str]) -> str | None:
        """Return the system; its family must be one of `families`, unless it is the QC bot."""
        family = self.text("task")
        if family is None or family == QC_TASK:
            return family
        if family not in families:
            known = ", ".join(sorted(families))
            self.fault(f"unknown system {quoted(family)} in task{self.number}.", f"The HIT has: {known}.")
            return None
        given = self.text("seed")
        if given is None:
            return None
        seed = number_in(given)
        if seed is None:
            self.fault(f"seed{self.number} is {quoted(given)}, which is not a number.")
            return None
        return f"{family}{PERSONA_SUFFIX}" if seed <= LAST_PERSONA_SEED else family

    def scores(self) -> list[str] | None:
        """Return the ratings as texts."""
        text = self.text("score")
        return None if text is None else text.removesuffix("#").split("#")

    def ratings(self, given: list[str], labels: list[str]) -> list[float] | None:
        """Return the ratings in `given` as numbers, one for each of `labels`."""
        numbers = [number_in(rating) for rating in given]
        for label, rating, number in zip(labels, given, numbers, strict=True):
            if number is None:
                why = f"the rating of {label!r} in score{self.number} is {quoted(rating)}, not a number."
                self.fault(why)
        known = [number for number in numbers if number is not None]
        return known if len(known) == len(labels) else None

    def said(self) -> Said | None:
        """Return the texts of the conversation."""
        there = [key for key in PARTS if f"{key}{self.number}" in self.answer]
        texts = {key: self.text(key) for key in there}
        given = {key: text for key, text in texts.items() if text is not None}
        try:
            return spoken(given)
        except ValueError as error:
            self.fault(f"{error} (conversation {self.number}).")
            return None


def parse(text: str, where: str, problems: list[Problem]) -> dict[str, object]:
    """Return the answer in the cell `text` of the row at `where`; empty if it is invalid."""
    if not text.strip():
        return {}
    try:
        match from_json(text):
            case []:
                return {}
            case [dict(answer)] | dict(answer):
                return answer
            case _:
                problems.append(Problem(where, f"{ANSWER} is not a list with one object.", REPAIR))
    except ValueError as error:
        problems.append(Problem(where, f"{ANSWER} is not JSON ({error}).", REPAIR))
    return {}


def parts(answer: dict[str, object]) -> list[int]:
    """Return the numbers of the conversations, in order."""
    return sorted({int(found[2]) for key in answer if (found := _PART.fullmatch(key))})


def feedback(answer: dict[str, object], where: str, problems: list[Problem]) -> str | None:
    """Return the worker's feedback; None if there is none."""
    text = text_of(answer, "feedback", where, problems) if "feedback" in answer else None
    given = (text or "").strip()
    return None if given in ("", NO_FEEDBACK) else given


def text_of(answer: dict[str, object], key: str, where: str, problems: list[Problem]) -> str | None:
    """Return the text with the key `key`; if there is none, add a problem and return None."""
    value = answer.get(key)
    if isinstance(value, str):
        return value
    why = f"{key} is missing." if key not in answer else f"{key} is {quoted(value)}, which is not a text."
    problems.append(Problem(where, why, REPAIR))
    return None


def number_in(text: str) -> float | None:
    """Return the number in `text`; None if it is not a finite number."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
