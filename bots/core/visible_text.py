"""What a bot may show to a worker.

This is the only rule for replies, and no rule for anything else. What workers write follows another one,
which is the session's: their words are kept as they typed them, as far as a database can hold them. A reply
is held to more, because it is put before somebody else: characters without width would let a bot mark its
lines unseen, those that turn the direction of writing change the page around them, and a line without
anything to see would have to be judged all the same.
"""

import re

from bots.core.chat import Reply
from bots.core.failures import EmptyReply, ReplyTooLong

LONGEST_REPLY = 2_000  # characters

# Control characters other than line feed and tab, halves of surrogate pairs, what has no width and joins
# nothing, and what turns the direction of the text around it.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2060\u2066-\u2069\ufeff\ud800-\udfff]"
)
_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0")  # letters and marks that are drawn as nothing


def checked_reply(text: str) -> Reply:
    """Return `text` without invisible characters and outer blanks, as a reply.

    A reply that is too long is refused, not cut: a worker would judge a line that the system never said.

    Raises:
        EmptyReply: nothing that can be seen is left.
        ReplyTooLong: more than LONGEST_REPLY characters are left.
    """
    clean = _INVISIBLE.sub("", text).strip()
    if not any(mark.isprintable() and not mark.isspace() and mark not in _BLANK for mark in clean):
        raise EmptyReply("the reply was empty")
    if len(clean) > LONGEST_REPLY:
        raise ReplyTooLong(
            f"the reply has {len(clean)} characters, and {LONGEST_REPLY} are the most that is shown; make the"
            " model answer in fewer words"
        )
    return Reply(clean)
