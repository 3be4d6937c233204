"""Lengths of replies in characters as people see them, as the server counts workers' messages."""

# The limit for any text: one character can have any number of code points.
MOST_CODE_POINTS = 7_000


def characters(text: str) -> int:
    """Return the number of characters that a reader of `text` sees. The text has no lone surrogates."""
    # Imported here, because its data are 30 MB.
    from icu4py.breakers import CharacterBreaker  # noqa: PLC0415

    return sum(1 for _ in CharacterBreaker(text, "en").segments())


def is_too_long(text: str, most: int) -> bool:
    """Return whether a text has more than `most` characters, or too many code points."""
    points = len(text)  # at least one for each character, so most texts need no counting
    return points > MOST_CODE_POINTS or (points > most and characters(text) > most)
