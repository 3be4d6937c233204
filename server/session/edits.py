"""Workers' edits of a text, and invalid ones (Chaganty et al. 2018, section 4, appendix A). Pure.

There a worker who rates a text below the top must edit it; the value is the edited words over the length,
and edits of fewer than five characters are rejected.
"""

import re

FEWEST_CHARACTERS = 5
_REPEATED_MARK = re.compile(r"(\S)\1{4,}")
_REPEATED_WORD = re.compile(r"\b(\w+)(?:\W+\1\b){2,}", re.IGNORECASE)
_WORD = re.compile(r"\w+")


def edit_share(shown: str, edited: str) -> float:
    """Return the edited words over the length of `shown` in words; 0 where they are the same.

    Edited words are those that have to be put in, left out or exchanged, at the least (Levenshtein). More
    words may be put in than there were, so that the share can be above 1.
    """
    before, after = shown.split(), edited.split()
    return _distance(before, after) / max(len(before), 1)


def why_senseless(shown: str, edited: str) -> str | None:
    """Return why `edited` cannot be an improvement of `shown`, in words for the worker; None: it can."""
    if not _WORD.search(edited):
        return "there are no words in the text"
    if _is_near(shown, edited, FEWEST_CHARACTERS - 1):
        return f"fewer than {FEWEST_CHARACTERS} characters were changed"
    if _letters(shown) == _letters(edited):
        return "only blanks, marks or capitals were changed"
    if _REPEATED_MARK.search(edited) and not _REPEATED_MARK.search(shown):
        return "one character stands there again and again"
    if _REPEATED_WORD.search(edited) and not _REPEATED_WORD.search(shown):
        return "one word stands there again and again"
    return None


def _letters(text: str) -> str:
    return "".join(_WORD.findall(text.casefold()))


def _distance(before: list[str], after: list[str]) -> int:
    """Return how many words have to be put in, left out or exchanged; of the order of their lengths' product.

    What both begin or end with costs nothing, so that a small edit of a long text is quick.
    """
    before, after = _without_common_ends(before, after)
    row = list(range(len(after) + 1))
    for i, one in enumerate(before, start=1):
        diagonal, row[0] = row[0], i
        for j, other in enumerate(after, start=1):
            exchanged = diagonal + (one != other)
            diagonal = row[j]
            row[j] = min(exchanged, row[j] + 1, row[j - 1] + 1)
    return row[-1]


def _without_common_ends(before: list[str], after: list[str]) -> tuple[list[str], list[str]]:
    most, start = min(len(before), len(after)), 0
    while start < most and before[start] == after[start]:
        start += 1
    end = 0
    while end < most - start and before[-1 - end] == after[-1 - end]:
        end += 1
    return before[start : len(before) - end], after[start : len(after) - end]


def _is_near(one: str, other: str, most: int) -> bool:
    """Return whether at most `most` characters have to be put in, left out or exchanged.

    Only places less than `most` off the diagonal are looked at, so that the time grows with the length.
    """
    if abs(len(one) - len(other)) > most:
        return False
    beyond = most + 1
    row = {j: j for j in range(min(most, len(other)) + 1)}
    for i in range(1, len(one) + 1):
        lowest = max(0, i - most)
        new: dict[int, int] = {}
        for j in range(lowest, min(len(other), i + most) + 1):
            here = row.get(j - 1, beyond) + (one[i - 1] != other[j - 1]) if j else i
            new[j] = min(here, row.get(j, beyond) + 1, new.get(j - 1, beyond) + 1)
        row = new
    return row.get(len(other), beyond) <= most
