"""Report the progress of a long computation to a listener."""

from collections.abc import Callable

OnStep = Callable[[str], None]  # called with a description when the next step begins


def no_step(_: str) -> None:
    """Do nothing: nobody watches the progress."""
