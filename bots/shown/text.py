"""The step itself: from a model's output to what is shown of it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from bots.shown import looks
from bots.shown.thoughts import speech
from bots.shown.turns import own_line

Change = Literal["thoughts", "marks", "turns", "limit", "looks"]
CHANGES: tuple[Change, ...] = get_args(Change)
Phase = Literal["thinking", "speaking", "over"]
# Without any of these an output holds neither mark nor label nor quotation: nearly every line of a chat.
_TELLING = re.compile(r"[<\[\u25c1:\uff1a\"]")


@dataclass(frozen=True, slots=True)
class ShownText:
    """What is shown of an output; empty if it says nothing.

    `changes`: what is not as in the output, in the order of `CHANGES`. "thoughts" were left out; so were the
    "marks" of a template or the model's own label; "turns" that are not the model's own; or what came after
    the last whole sentence, where a "limit" of tokens ended the output. "looks": other than white space, the
    spelling of tokens, a quotation mark without a partner or something invisible.
    """

    text: str
    changes: tuple[Change, ...]


def shown_text(
    output: str,
    *,
    opened: bool = False,
    at_limit: bool = False,
    tokens: bool = False,
    labels: Sequence[str] = (),
) -> ShownText:
    """Return what is shown of a model's whole output.

    Args:
        output: all that the model wrote, its template's marks included where they are known.
        opened: the prompt opened thoughts, so that the output begins in the midst of them.
        at_limit: the output ended because it reached its limit of tokens.
        tokens: the model writes words in small letters with blanks around marks, as ParlAI's do. Where that
            is not said, a line is respelled if it looks so.
        labels: what speakers are called where the prompt begins each line with its speaker, the model last.
    """
    if not (opened or at_limit or tokens or labels) and is_plain(output):
        return ShownText(output, ())
    said = speech(looks.evened(output), opened)
    own = own_line(said.text, labels)
    plain = looks.visible(own.text)
    cut = at_limit and not own.others_after and not said.thinking
    whole = looks.whole_sentences(plain) if cut else plain
    line = looks.paired(looks.spelled(whole) if tokens or looks.is_tokens(whole) else whole)
    made: dict[Change, bool] = {
        "thoughts": said.thought,
        "marks": own.marked,
        "turns": own.others_before or own.others_after,
        "limit": cut,
        "looks": line != whole or plain != looks.evened(own.text),
    }
    changes = {change for change in CHANGES if made[change]}
    if changes and line != output:
        again = shown_text(line)  # what stood behind a mark may begin with one itself
        line, changes = again.text, changes.union(again.changes)
    return ShownText(line, tuple(change for change in CHANGES if change in changes))


def phase(output: str, *, opened: bool, labels: Sequence[str] = ()) -> Phase:
    """Return how far a growing output is: "over" once another's line follows the model's own."""
    said = speech(looks.evened(output), opened)
    own = own_line(said.text, labels)
    if own.text.strip() and own.others_after:
        return "over"
    return "thinking" if said.thinking else "speaking"


def is_plain(output: str) -> bool:
    """Return whether `output` is shown as it is: a quick answer, which the whole step would give as well."""
    if _TELLING.search(output) is not None or output.startswith(("analysis", "final")):
        return False
    return "assistantfinal" not in output and looks.is_visible(output) and not looks.is_tokens(output)
