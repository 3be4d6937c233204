"""Convert a model's output to the text that is shown."""

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
# An output without any of these has no mark, label or quotation; most lines of a chat have none.
_TELLING = re.compile(r"[<\[\u25c1:\uff1a\"]")


@dataclass(frozen=True, slots=True)
class ShownText:
    """The shown part of an output; empty if there is none.

    `changes`: the differences from the output, in the order of `CHANGES`. "thoughts": thoughts were left out.
    "marks": marks of a template, or the model's own label. "turns": lines of other speakers. "limit": text
    after the last whole sentence, because a limit of tokens ended the output. "looks", apart from white
    space: the spelling of tokens, an unpaired quotation mark, or something invisible.
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
    """Return the shown part of a model's whole output.

    Args:
        output: the model's raw output, with its template's marks if they are known.
        opened: the prompt has opened thoughts, so that the output begins within them.
        at_limit: the output ended because it reached its limit of tokens.
        tokens: the model writes lower-case words with blanks around punctuation, as ParlAI's do. If not set,
            a line is respelled only if it looks so.
        labels: the speakers' names, if the prompt begins each line with its speaker; the model's is the last.
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
        again = shown_text(line)  # the text after a mark may begin with another mark
        line, changes = again.text, changes.union(again.changes)
    return ShownText(line, tuple(change for change in CHANGES if change in changes))


def phase(output: str, *, opened: bool, labels: Sequence[str] = ()) -> Phase:
    """Return the state of a growing output: "over" once another speaker's line follows the model's own."""
    said = speech(looks.evened(output), opened)
    own = own_line(said.text, labels)
    if own.text.strip() and own.others_after:
        return "over"
    return "thinking" if said.thinking else "speaking"


def is_plain(output: str) -> bool:
    """Return whether `output` is shown unchanged: a quick test that agrees with `shown_text`."""
    if _TELLING.search(output) is not None or output.startswith(("analysis", "final")):
        return False
    return "assistantfinal" not in output and looks.is_visible(output) and not looks.is_tokens(output)
