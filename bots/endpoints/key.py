"""The key of an endpoint: the study names it, the environment holds it, and it is never shown."""

import os
import re
from dataclasses import dataclass, field

_KEY = re.compile(r"[!-~]+")


class EndpointError(ValueError):
    """An endpoint cannot be opened. The message says what is missing."""


@dataclass(frozen=True, slots=True)
class Key:
    """A key and the environment variable that it came from."""

    variable: str
    value: str = field(repr=False)

    def hidden(self, text: str) -> str:
        """Return `text` with the key replaced by a placeholder."""
        return text.replace(self.value, "[key]")


def key_from(variable: str) -> Key:
    """Return the key in the environment variable `variable`.

    Raises:
        EndpointError: it is unset or empty, or has characters that no key has.
    """
    value = os.environ.get(variable, "").strip()
    if not value:
        raise EndpointError(f"the environment variable {variable}, which should hold its key, is not set")
    if not _KEY.fullmatch(value):
        raise EndpointError(
            f"the environment variable {variable} should hold its key, but has blanks or characters in it"
            " that no key has"
        )
    return Key(variable, value)
