"""Reduce a model's output to the text that a worker may see, by one rule for every kind of bot. Pure.

A model's output may contain thoughts, marks of its chat template, its own label, and lines made up for the
other speaker. `shown_text` keeps only the model's own line, in the looks that all bots share, and reports the
changes. `phase` tells the state of an output that is still growing.

Looks are spacing, capitals and invisible characters: they must not tell which bot speaks. Corpora such as
ConvAI2 are lower case with a space before every punctuation mark. All builtin systems, and the QC bot, write
their text like English prose (`present`). A model's output keeps its own prose (`visible`).
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, get_args

LONGEST = 300

_SPACE_BEFORE = re.compile(r" (?=[,.;:!?…%)\]])")
_AT_CONTRACTION = re.compile(r" (?:'|n't)", re.IGNORECASE)  # a quick test, which nearly always fails
_SPLIT_CONTRACTION = re.compile(r"\b(\w+)\s+('(?:s|m|re|ve|ll|d|t)|n't)\b", re.IGNORECASE)
_AFTER_SENTENCE = re.compile(r"((?<!\.)[.!?]\s+)([a-z])")
_LONE_I = re.compile(r"i(?<!\wi)\b(?=$|\s|[,.;:!?]|'(?:m|ve|ll|d)\b)")
_SENTENCE_BREAK = re.compile(r"[.!?…](?=\s)")


def present(text: str) -> str:
    """Return `text` formatted by `written` and cut to at most `LONGEST` characters."""
    return shorten(written(text))


def written(text: str) -> str:
    """Return `text` as one line with normal spacing and capitals; no word of it is left out.

    Text in this form is returned unchanged.
    """
    line = _SPACE_BEFORE.sub("", " ".join(_without_controls(text).split()))
    if _AT_CONTRACTION.search(line) is not None:
        line = _SPLIT_CONTRACTION.sub(r"\1\2", line)
    if not has_capitals(line):
        line = _AFTER_SENTENCE.sub(lambda found: found[1] + found[2].upper(), line)
    line = _LONE_I.sub("I", line)
    return line[:1].upper() + line[1:]


def has_capitals(line: str) -> bool:
    """Return whether any letter of `line` is a capital."""
    return line.lower() != line if line.isascii() else any(mark.isupper() for mark in line)


def _without_controls(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(mark for mark in text if unicodedata.category(mark) != "Cc" or mark.isspace())


def shorten(line: str, longest: int = LONGEST) -> str:
    """Return `line` cut to `longest` characters, after a sentence if one ends in its second half."""
    if len(line) <= longest:
        return line
    ends = [found.end() for found in _SENTENCE_BREAK.finditer(line, 0, longest + 1) if found.end() <= longest]
    if ends and ends[-1] >= longest // 2:
        return line[: ends[-1]]
    return line[: longest - 1].rsplit(" ", 1)[0].rstrip(" ,;:-") + "…"


# Control characters other than white space, halves of surrogate pairs, characters without width that join
# nothing, and characters that change the direction of the text around them.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u200b\u202a-\u202e\u2060\u2066-\u2069\ufeff\ud800-\udfff]"
)
_SENTENCE_END = re.compile(
    r"(?<![.!?…])[.!?…]+[\"'”’)\]*]*(?=\s|$)|[\u3002\uff01\uff1f]+[\u201d\u2019\u300d\u300f\uff09]*"
)
_LAST_WORD = re.compile(r"\s+\S*$")
# "i ' m fine , thanks .": output of a word tokenizer whose tokens were not joined again.
_TOKENS = re.compile(r"\w [,.;!?](?:\s|$)|\w ['’] ?(?:s|m|re|ve|ll|d|t)\b|\w n't\b")
_SPLIT_APOSTROPHE = re.compile(r"(?<=\w) ?(['’]) ?(?=(?:s|m|re|ve|ll|d|t)\b)")

_LINE_END = re.compile("\r\n|[\n\r\x0b\x0c\x85\u2028\u2029]")
_EMPTY_LINES = re.compile(r"\n{3,}")
_LEAST, _DEEPEST = 2, 8  # blanks of an indent that are kept, for nested lists and code


def evened(text: str) -> str:
    """Return `text` with normalised white space.

    Line breaks and indents stay, because lists and code need them. Elsewhere, runs of blanks become one
    blank, and runs of empty lines become one. No run of white space is then long enough to slow a search in
    the text down.
    """
    lines = (_evened_line(line) for line in _LINE_END.split(text))
    return _EMPTY_LINES.sub("\n\n", "\n".join(lines)).strip()


def _evened_line(line: str) -> str:
    words = line.split()
    before = line[: len(line) - len(line.lstrip())].expandtabs(4)[:_DEEPEST]
    return " " * (len(before) if len(before) >= _LEAST else 0) + " ".join(words) if words else ""


def visible(text: str) -> str:
    """Return `text` with normalised white space and without invisible characters."""
    return evened(_INVISIBLE.sub("", text))


def is_visible(text: str) -> bool:
    """Return whether `visible` leaves `text` unchanged; fast for nearly all texts."""
    # The blank is the only printable white space, and no invisible character is printable.
    one_line = text.isprintable() and "  " not in text and text.strip() == text
    return one_line or visible(text) == text


def is_tokens(line: str) -> bool:
    """Return whether `line` consists of lower-case words with blanks around punctuation."""
    return not has_capitals(line) and _TOKENS.search(line) is not None


def spelled(line: str) -> str:
    """Return word tokens in normal spelling: "i ' m fine , thanks ." becomes "I'm fine, thanks.".

    Only the looks change: no words are cut, however long the line is.
    """
    return written(_SPLIT_APOSTROPHE.sub(r"\1", line))


def paired(line: str) -> str:
    """Return `line` without its last quotation mark if their number is odd.

    A mark after a digit stays: it may mean inches or seconds.
    """
    at = line.rfind('"')
    if line.count('"') % 2 == 0 or (line[at - 1 : at].isdigit() and at != len(line) - 1):
        return line
    return evened(f"{line[:at]}{line[at + 1 :]}")


def whole_sentences(line: str) -> str:
    """Return `line` up to the end of its last whole sentence; if there is none, its whole words and "…"."""
    ends = [found.end() for found in _SENTENCE_END.finditer(line)]
    if ends:
        return line[: ends[-1]]
    words = _LAST_WORD.sub("", line).rstrip(" \n,;:-")
    return f"{words}…" if words else ""


# Tags such as <think>, <thinking>, <reasoning>, some with a name before or after: <seed:think>, <think:name>.
_NAME = r"(?:\w{1,20}:)?(?:think(?:ing)?|thoughts?|reason(?:ing)?|reflection|scratchpad)(?::\w{1,20})?"
_CHANNEL = r"[^<]{0,80}(?:<\|constrain\|>\s?\w{1,20})?<\|message\|>"
# Other marks that open thoughts, from chat templates and their documentation.
_OPENS = (
    rf"<\s?{_NAME}\s?>",
    r"\[THINK\]",  # Mistral's Magistral and Ministral
    r"◁think▷",  # Kimi
    r"<\|open\|>think<\|sep\|>",  # Kimi K3
    r"<\|START_THINKING\|>",  # Cohere's Command A
    r"<\|begin_of_thought\|>",  # OpenThinker
    r"<\|inner_prefix\|>",  # Apertus
    r"<\|channel>\s?thought\b",  # Gemma 4
    rf"<\|channel\|>\s?(?!final\b)\w{{1,20}}{_CHANNEL}",  # gpt-oss (OpenAI harmony response format, 2025)
    r"<details type=\"reasoning\"[^<>]{0,200}>",  # Open WebUI
    r"\A\s*Here is my thought process:",  # Granite 3.2
    r"\A\s*Here are my reasoning steps:",  # Apriel
    # gpt-oss without its marks: "analysisThe user says hi.assistantfinalHello!"
    r"\A\s*(?-i:analysis)(?=(?-i:[A-Z\"'“])|.*assistantfinal)",
)
_CLOSES = (
    rf"<\s?/\s?{_NAME}\s?>",
    r"\[/THINK\]",
    r"◁/think▷",
    r"<\|close\|>think<\|sep\|>",
    r"<\|END_THINKING\|>",
    r"<\|end_of_thought\|>",
    r"<\|inner_suffix\|>",
    r"<channel\|>",
    rf"<\|channel\|>\s?final{_CHANNEL}",
    r"\[BEGIN FINAL RESPONSE\]",
    r"(?-i:assistantfinal)(?=[^\s…])",
    r"\A\s*(?-i:final(?=[A-Z]))",
)
_ENDS = {
    "[THINK]": "[/THINK]",
    "◁think▷": "◁/think▷",
    "<|open|>think<|sep|>": "<|close|>think<|sep|>",
    "<|START_THINKING|>": "<|END_THINKING|>",
    "<|begin_of_thought|>": "<|end_of_thought|>",
    "<|inner_prefix|>": "<|inner_suffix|>",
}
# Anybody may write these, so each only ends thoughts that its own kind of mark has opened.
_HEADING, _DETAILS = r"Here is my response:", r"</details>"
_MARK = re.compile(
    f"(?P<opens>{'|'.join(_OPENS)})|(?P<closes>{'|'.join(_CLOSES)})"
    f"|(?P<heading>{_HEADING})|(?P<details>{_DETAILS})",
    re.IGNORECASE | re.DOTALL,
)
# Tags that some models write around the answer after their thoughts.
_ANSWER_TAG = re.compile(
    r"<\s?/?\s?(?:answer|response|final_answer)\s?>|<\|(?:START|END)_RESPONSE\|>|\[END FINAL RESPONSE\]"
    r"|<\|(?:begin|end)_of_solution\|>|<\|(?:open|close)\|>(?:response|message)<\|sep\|>",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class VisibleSpeech:
    """A model's output without its thoughts.

    `thought`: the output contained thoughts. `thinking`: it ends within them.
    """

    text: str
    thought: bool
    thinking: bool


def speech(output: str, opened: bool = False) -> VisibleSpeech:
    """Return the output without its thoughts.

    `opened`: the prompt has already opened thoughts, so that only their end is in the output. An end without
    a beginning is treated in the same way, if that is unknown: everything before it was thought.
    """
    parts: list[str] = []
    thinking = thought = opened
    at, own_end = 0, ""
    for mark in _MARK.finditer(output):
        if mark.lastgroup in ("heading", "details") and not (thinking and own_end == mark.lastgroup):
            continue
        thought = True
        if mark["opens"] is None:
            if not thinking:
                parts.clear()
            thinking, at = False, mark.end()
        elif not thinking:
            parts.append(output[at : mark.start()])
            thinking = True
            own_end = "heading" if mark["opens"].endswith(":") else mark["opens"][1:8].lower()
    if not thinking:
        parts.append(output[at:])
    text = "".join(parts)
    return VisibleSpeech(_ANSWER_TAG.sub("", text) if thought else text, thought, thinking)


def closed(text: str) -> str:
    """Return `text`, which ends within thoughts, with the mark that ends them and no thoughts.

    Raises:
        ValueError: it has opened no thoughts, or their end mark is unknown.
    """
    opened = [mark["opens"] for mark in _MARK.finditer(text) if mark["opens"] is not None]
    if not opened:
        raise ValueError("the text has opened no thoughts")
    mark = opened[-1]
    if tag := re.fullmatch(r"<\s?([\w:]+)[^|]*>", mark):
        end = f"</{tag[1]}>"
    elif mark in _ENDS:
        end = _ENDS[mark]
    else:
        raise ValueError(f"how thoughts end that {mark!r} begins is not known")
    return f"{text.rstrip()}\n\n{end}\n\n"


# Calls of tools, each to its end or to the end of the output: nobody runs them here.
_CALLS = re.compile(
    r"<(?P<tag>tool_call|function_calls?|minimax:tool_call)\b[^<>]{0,200}>.*?(?:</(?P=tag)>|\Z)"
    r"|<details type=\"tool_calls\"[^<>]{0,200}>.*?(?:</details>|\Z)"  # Open WebUI
    r"|<function=[\w.-]{1,100}>.*?(?:</function>|\Z)"  # Llama 3.1
    r"|<\|python_tag\|>.*?(?:<\|eo[mt]_id\|>|\Z)"  # Llama 3.1
    r"|\[TOOL_CALLS\].*?(?:</s>|\Z)"  # Mistral
    r"|<\uff5ctool\u2581calls\u2581begin\uff5c>.*?(?:<\uff5ctool\u2581calls\u2581end\uff5c>|\Z)"  # DeepSeek
    r"|<\|tool_calls_section_begin\|>.*?(?:<\|tool_calls_section_end\|>|\Z)"  # Kimi K2
    r"|<\|tool_call>.*?(?:<tool_call\|>|\Z)"  # Gemma 4
    r"|<\|tool_call\|>.*?(?:<\|/tool_call\|>|\Z)"  # Phi 4, Granite
    r"|```tool_code\n.*?(?:```|\Z)",  # Gemma 3
    re.DOTALL,
)


def _without_calls(said: str) -> str:
    return _CALLS.sub("", said) if _CALLS.search(said) else said


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


Change = Literal["thoughts", "marks", "turns", "limit", "looks"]
CHANGES: tuple[Change, ...] = get_args(Change)
Phase = Literal["thinking", "speaking", "over"]
# An output without any of these has no mark, label or quotation; most lines of a chat have none.
_TELLING = re.compile(r"[<\[\u25c1:\uff1a\"`]")


@dataclass(frozen=True, slots=True)
class ShownText:
    """The shown part of an output; empty if there is none.

    `changes`: the differences from the output, in the order of `CHANGES`. "thoughts": thoughts were left out.
    "marks": marks of a template, calls of tools, or the model's own label. "turns": lines of other speakers.
    "limit": text after the last whole sentence, because a limit of tokens ended the output. "looks", apart
    from white space: the spelling of tokens, an unpaired quotation mark, or something invisible.
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
    said = speech(evened(output), opened)
    own_words = _without_calls(said.text)
    own = own_line(own_words, labels)
    plain = visible(own.text)
    cut = at_limit and not own.others_after and not said.thinking
    whole = whole_sentences(plain) if cut else plain
    line = paired(spelled(whole) if tokens or is_tokens(whole) else whole)
    made: dict[Change, bool] = {
        "thoughts": said.thought,
        "marks": own.marked or own_words != said.text,
        "turns": own.others_before or own.others_after,
        "limit": cut,
        "looks": line != whole or plain != evened(own.text),
    }
    changes = {change for change in CHANGES if made[change]}
    if changes and line != output:
        again = shown_text(line)  # the text after a mark may begin with another mark
        line, changes = again.text, changes.union(again.changes)
    return ShownText(line, tuple(change for change in CHANGES if change in changes))


def phase(output: str, *, opened: bool, labels: Sequence[str] = ()) -> Phase:
    """Return the state of a growing output: "over" once another speaker's line follows the model's own."""
    said = speech(evened(output), opened)
    own = own_line(_without_calls(said.text), labels)
    if own.text.strip() and own.others_after:
        return "over"
    return "thinking" if said.thinking else "speaking"


def is_plain(output: str) -> bool:
    """Return whether `output` is shown unchanged: a quick test that agrees with `shown_text`."""
    if _TELLING.search(output) is not None or output.startswith(("analysis", "final")):
        return False
    return "assistantfinal" not in output and is_visible(output) and not is_tokens(output)
