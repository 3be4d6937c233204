"""The lines of a file, with the numbers by which errors name them."""

from collections.abc import Iterator


def lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield every line of `text` that is not blank, with its number from 1."""
    return ((number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip())
