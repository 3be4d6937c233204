"""Parse the answer of an MTurk assignment in the published form into its conversations.

An answer is an object of texts. `taskN`, `seedN` and `scoreN` are the family, the persona and the ratings of
conversation N; ratings are written as `90#60#70#`. `mturk_speech` parses the texts.
"""

import math
import re
from dataclasses import dataclass

from pydantic_core import from_json

from qc.errors import Problem, quoted
from qc.formats.published import ANSWER, LAST_PERSONA_SEED, NO_FEEDBACK, PERSONA_SUFFIX, QC_TASK
from qc.loading.published import mturk_speech
from qc.loading.raw_run import REPAIR

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

    def said(self) -> mturk_speech.Said | None:
        """Return the texts of the conversation."""
        there = [key for key in mturk_speech.PARTS if f"{key}{self.number}" in self.answer]
        texts = {key: self.text(key) for key in there}
        given = {key: text for key, text in texts.items() if text is not None}
        try:
            return mturk_speech.spoken(given)
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
