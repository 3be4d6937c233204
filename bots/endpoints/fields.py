"""Types of the fields of a service's answer.

The text of a reply is read strictly. What only describes the reply is read leniently: a reply that was paid
must not be lost because a fingerprint is a number, tokens are counted in fractions, or thoughts come as an
object.
"""

import json
import re
from collections.abc import Mapping
from math import ceil, isfinite
from typing import Annotated, Any

from pydantic import BeforeValidator

# A model may write an emoji in two pieces, each with half of a surrogate pair. No text can hold a half, so
# the halves are kept as characters of a private plane until the pieces are joined.
_HALF = re.compile("[\ud800-\udfff]")
_KEPT_PAIR = re.compile("([\U0010d800-\U0010dbff])([\U0010dc00-\U0010dfff])")
_KEPT = re.compile("[\U0010d800-\U0010dfff]")
_PRIVATE = 0x100000
_ESCAPED_HALF = re.compile(r"\\u[dD][89a-fA-F]")


def _label(value: Any) -> str | None:
    known = isinstance(value, str | int) and not isinstance(value, bool)
    return str(value) or None if known else None


def _count(value: Any) -> int | None:
    known = isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
    return ceil(value) if known and value >= 0 else None


def _thoughts(value: Any) -> str:
    match value:
        case str():
            return value
        case list():
            return "".join(map(_thoughts, value))
        case dict():
            found = (value[name] for name in ("text", "content", "summary", "thinking") if value.get(name))
            return _thoughts(next(found, ""))
    return ""


def _mapping(value: Any) -> Any:
    return value if isinstance(value, Mapping) else {}


Label = Annotated[str | None, BeforeValidator(_label)]
"""A name or a version, also as a number; None if it is anything else."""
Count = Annotated[int | None, BeforeValidator(_count)]
"""A number of tokens, rounded up; None if it is no number."""
Thoughts = Annotated[str, BeforeValidator(_thoughts)]
"""Thoughts, as a text or within objects and lists; empty if there are none."""
Lenient = BeforeValidator(_mapping)
"""Reads anything that is no object as an empty one."""


def keep_halves(event: str) -> str:
    """Return JSON that holds halves of an emoji in a form that can be parsed; other texts unchanged."""
    if not _ESCAPED_HALF.search(event):
        return event
    text = json.dumps(json.loads(event), ensure_ascii=False)
    return _HALF.sub(lambda half: chr(ord(half[0]) + _PRIVATE), text)


def join_halves(text: str) -> str:
    """Return a text with the halves that `keep_halves` kept joined; halves without a partner are left out."""
    joined = _KEPT_PAIR.sub(lambda pair: _whole(*pair.groups()), text)
    return _KEPT.sub("", joined)


def _whole(high: str, low: str) -> str:
    return chr(0x10000 + ((ord(high) - _PRIVATE - 0xD800) << 10) + (ord(low) - _PRIVATE - 0xDC00))
