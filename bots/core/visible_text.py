"""What an endpoint said, as a reply that can be shown to a worker."""

import re

from bots.core.chat import Reply
from bots.core.failures import Declined

LONGEST_REPLY = 2_000  # characters; what a server of Candor stores of a bot's line

EMPTY = "the reply was empty"
TOO_LONG = f"characters, and {LONGEST_REPLY} are the most that is shown"

# Control characters other than line feed and tab, halves of surrogate pairs, what has no width and joins
# nothing, and what turns the direction of the text around it.
_UNSPEAKABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2060\u2066-\u2069\ufeff\ud800-\udfff]"
)


def checked_reply(text: str | None) -> Reply:
    """Return `text` without control characters and outer blanks.

    A reply that is too long is refused, not cut: a worker would judge a line that the system never said.

    Raises:
        Declined: nothing that can be seen is left, or more than LONGEST_REPLY characters are.
    """
    clean = _UNSPEAKABLE.sub("", text or "").strip()
    if not any(mark.isprintable() and not mark.isspace() for mark in clean):
        raise Declined(EMPTY)
    if len(clean) > LONGEST_REPLY:
        raise Declined(f"the reply has {len(clean)} {TOO_LONG}; make the model answer in fewer words")
    return Reply(clean)
