"""Cut a model's output to its own line, without lines of other speakers."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

_OWN = r"(?:assistant|chatbot|bot|ai|me|response)"
_FOREIGN = r"(?:user|human|worker|stranger|customer|system|developer|you|instruction)"
_NUMBERED = r"(?:person|speaker) ?\d"
_BEFORE_LABEL = r"[*#>]{0,4} ?"
_AFTER_LABEL = r" ?\*{0,2}[:\uff1a]\*{0,2}"
# Marks of the chat templates of all models: <|im_end|>, <start_of_turn>, [/INST], </s> …
_CONTROL = (
    r"(?i:<\|[\w ▁/-]{1,40}\|?>|<[\w ▁/-]{1,40}\|>|<\uff5c[\w ▁/-]{1,40}\uff5c>|\[\|/?[\w ]{1,20}\|\]"
    r"|</?s>|<</?SYS>>|<(?:bos|eos|pad|unk)>|<(?:start|end)_of_(?:turn|text)>|\[/?INST\]|<extra_id_\d{1,2}>)"
)
_INSTRUCTED = re.compile(r"\s*(?:<s>\s*)?\[INST\].*?(?:\[/INST\]|$)", re.DOTALL)
_CONTROLS = re.compile(_CONTROL)
# The indent of one line only: with `\s*`, a long run of newlines would be searched again from each newline.
_INDENT = r"\n[^\S\n]*"
_MARKS = re.compile(rf"\s*(?:{_CONTROL}\s*)+")
_ROLE = re.compile(rf"(?i:(?P<own>{_OWN}|model)|(?P<foreign>{_FOREIGN}))\s*(?:\n|{_CONTROL}|$)")
_OWN_BEGINS = re.compile(
    rf"{_CONTROL}\s*(?i:{_OWN}|model)\s*(?:\n|{_CONTROL})|{_INDENT}{_BEFORE_LABEL}(?i:{_OWN}){_AFTER_LABEL}"
)
_AT_A_SENTENCE = r"(?:Bot|AI|Chatbot|You|Me|Stranger|Worker|(?:Person|Speaker) ?\d)"


@dataclass(frozen=True, slots=True)
class OwnText:
    """A model's own line.

    `marked`: there were marks of a template, or the model's label, around it. `others_before`,
    `others_after`: there were lines of other speakers.
    """

    text: str
    marked: bool
    others_before: bool
    others_after: bool


def own_line(said: str, labels: Sequence[str] = ()) -> OwnText:
    """Return the model's own line in `said`, which contains no thoughts.

    `labels`: further names of the speakers, if each line of the prompt begins with its speaker's; the model's
    own is the last.
    """
    begun, marked, before = _begun(said, labels)
    end = _ends(tuple(labels)).search(begun)
    if end is None:
        return OwnText(begun, marked, before, False)
    after = bool(_CONTROLS.sub("", begun[end.start() :]).strip())
    return OwnText(begun[: end.start()].rstrip(), marked or not after, before, after)


def _begun(said: str, labels: Sequence[str]) -> tuple[str, bool, bool]:
    """Return `said` from the model's own line on, and whether marks, and others' lines, came before."""
    instructed, label = _INSTRUCTED.match(said), _label(tuple(labels))
    at = instructed.end() if instructed else 0
    marked, before = False, instructed is not None
    while True:
        marks = _MARKS.match(said, at)
        found = _ROLE.match(said, marks.end()) if marks else label.match(said, at)
        if found is not None and found["foreign"] is not None:
            own = _OWN_BEGINS.search(said, found.end())
            at, before = own.start() if own else len(said), True
        elif found is not None and found["own"] is not None:
            # The mark that closes a role may belong to the next one, so it is matched again.
            at, marked = found.end("own"), True
            at += said.startswith(":", at)
        elif marks is not None:
            at, marked = marks.end(), True
        else:
            return said[at:], marked, before  # cut once: repeated cutting would take quadratic time


@lru_cache(maxsize=64)
def _label(labels: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern for a speaker's label at the beginning of a text."""
    own = "|".join((_OWN, _NUMBERED, *map(re.escape, labels[-1:])))
    foreign = "|".join((_FOREIGN, *map(re.escape, labels[:-1])))
    return re.compile(
        rf"\s*{_BEFORE_LABEL}(?i:(?P<own>(?:{own}){_AFTER_LABEL})|(?P<foreign>(?:{foreign}){_AFTER_LABEL}))"
    )


@lru_cache(maxsize=64)
def _ends(labels: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern for the end of a model's own line: a mark, or the label of the next speaker."""
    anybody = "|".join((_OWN, _FOREIGN, _NUMBERED, *map(re.escape, labels)))
    return re.compile(
        rf"{_CONTROL}"
        rf"|{_INDENT}{_BEFORE_LABEL}(?i:{anybody}){_AFTER_LABEL}"
        r"|\s(?:User|Human|Assistant) ?:"
        rf"|(?<=[.!?…\"'”’)])\s+{_AT_A_SENTENCE} ?:"
    )
