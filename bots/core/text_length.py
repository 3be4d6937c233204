"""Lengths of replies in characters as people see them, as the server counts what workers write."""

# The most of any text, whatever it is made of: a character can have any number of code points.
MOST_CODE_POINTS = 7_000


def characters(text: str) -> int:
    """Return how many characters somebody sees who reads `text`, which has no lone surrogates."""
    # Loaded where it is needed: its data are 30 MB.
    from icu4py.breakers import CharacterBreaker  # noqa: PLC0415

    return sum(1 for _ in CharacterBreaker(text, "en").segments())


def is_too_long(text: str, most: int) -> bool:
    """Return whether a text has more than `most` characters, or too many code points."""
    points = len(text)  # each character has one at least: most texts need no counting
    return points > MOST_CODE_POINTS or (points > most and characters(text) > most)
