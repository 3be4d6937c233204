"""How a long computation tells what it is at, to whoever watches."""

from collections.abc import Callable

OnStep = Callable[[str], None]  # called with a description when the next step begins


def no_step(_: str) -> None:
    """Take no notice: nobody watches."""
