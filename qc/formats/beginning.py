"""How our files begin: with the name of their format, so that a reader knows them by their first bytes."""

import re


def beginning(name: str) -> re.Pattern[bytes]:
    """Return what matches the first bytes of JSON whose first field is `"format": name`."""
    return re.compile(rb'\s*\{\s*"format"\s*:\s*"' + name.encode() + rb'"')
