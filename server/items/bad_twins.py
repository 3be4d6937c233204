"""Make bad twins: texts with a run of words replaced, which an attentive worker rates lower. Pure.

The rule is that of Ji's PhD thesis, chapters 3 to 5. A run of words, whose length depends on the text's
length, is replaced by as many consecutive words of another text. In texts of more than two words, the first
and the last word are neither replaced nor taken.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from bots import run_length
from candor.common.segmentation import join_words, split_words
from server.errors import StudyInvalid
from server.session.item import ItemContent, ItemLine

RuleName = Literal["chapter5", "chapter3"]
_TRIES = 20  # redraws of a distortion that has changed nothing


def _run_length_of_chapter3(words: int) -> int:
    """Return the length of the run by chapter 3, which falls from 5 to 4 at 21 words."""
    return run_length(words) if words <= 20 else words // 5


RULES: Mapping[RuleName, Callable[[int], int]] = {
    "chapter5": run_length,
    "chapter3": _run_length_of_chapter3,
}


def bad_twins(
    contents: Mapping[str, ItemContent], rule: RuleName, seed: int, language: str = "en"
) -> dict[str, ItemContent]:
    """Return the bad twin of every item, by its name.

    A text is distorted once; in a conversation, each line of the system is distorted, and nothing else. The
    inserted words come from another item: its text, or all lines of its system. Words are split by
    `language`, a tag such as `de` or `zh-TW`.

    Raises:
        StudyInvalid: No other item has enough words, or every replacement yields the same text.
    """
    words = {name: split_words(_own(content), language) for name, content in contents.items()}
    return {
        name: _bad_twin(name, content, words, rule, random.Random(f"bad twin {seed} {name}"), language)
        for name, content in contents.items()
    }


def distorted(words: Sequence[str], donor: Sequence[str], length: int, rng: random.Random) -> list[str]:
    """Return `words` with `length` consecutive ones replaced by as many consecutive ones of `donor`.

    Both positions are random. In texts of more than two words, the ends are neither replaced nor taken.

    Raises:
        ValueError: One of the two has too few words.
    """
    start = _place_of_run(len(words), length, rng)
    taken = _place_of_run(len(donor), length, rng)
    return [*words[:start], *donor[taken : taken + length], *words[start + length :]]


def _place_of_run(size: int, length: int, rng: random.Random) -> int:
    kept = _kept(size)
    if size - 2 * kept < length:
        raise ValueError(f"a text of {size} words has no run of {length} to exchange")
    return rng.randint(kept, size - kept - length)


def _kept(size: int) -> int:
    return 1 if size > 2 else 0


def _own(content: ItemContent) -> str:
    """Return the system's own text or lines."""
    said = [line.text for line in content.lines if line.author == "bot"]
    return "\n".join([content.text or "", *said])


def _bad_twin(
    name: str,
    content: ItemContent,
    words: Mapping[str, list[str]],
    rule: RuleName,
    rng: random.Random,
    language: str,
) -> ItemContent:
    def twin(text: str) -> str:
        return _distorted_text(name, text, words, rule, rng, language)

    return content.model_copy(
        update={
            "text": twin(content.text) if content.text is not None else None,
            "lines": tuple(
                ItemLine(author="bot", text=twin(line.text)) if line.author == "bot" else line
                for line in content.lines
            ),
        }
    )


def _distorted_text(
    name: str,
    text: str,
    words: Mapping[str, list[str]],
    rule: RuleName,
    rng: random.Random,
    language: str,
) -> str:
    own = split_words(text, language)
    length = RULES[rule](len(own))
    donors = [
        donor
        for other, donor in words.items()
        if other != name and len(donor) - 2 * _kept(len(donor)) >= length
    ]
    for _ in range(_TRIES if donors else 0):
        changed = distorted(own, rng.choice(donors), length, rng)
        if changed != own:
            return join_words(changed, language)
    raise StudyInvalid(
        f"the item `{name}` has no bad twin: no other one has {length} words in a row to put into it",
        "Give more items, or longer ones; or ask for `bad: 0`.",
    )
