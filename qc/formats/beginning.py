"""Recognise our own files by their first bytes, which name the format."""

import re


def beginning(name: str) -> re.Pattern[bytes]:
    """Return what matches the first bytes of JSON whose first field is `"format": name`."""
    return re.compile(rb'\s*\{\s*"format"\s*:\s*"' + name.encode() + rb'"')
