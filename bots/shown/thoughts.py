"""Separate what a model says from what it thinks."""

import re
from dataclasses import dataclass

# Written <think>, <thinking>, <reasoning> …, some with a name before or behind: <seed:think>, <think:name>.
_NAME = r"(?:\w{1,20}:)?(?:think(?:ing)?|thoughts?|reason(?:ing)?|reflection|scratchpad)(?::\w{1,20})?"
_CHANNEL = r"[^<]{0,80}(?:<\|constrain\|>\s?\w{1,20})?<\|message\|>"
# What opens thoughts, beside these tags, as chat templates and their documentation have it.
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
    r"\A\s*Here is my thought process:",  # Granite 3.2
    r"\A\s*Here are my reasoning steps:",  # Apriel
    # gpt-oss where the marks themselves were left out: "analysisThe user says hi.assistantfinalHello!"
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
# By itself anybody may say this: it ends what the heading of thoughts has opened, and nothing else.
_HEADING = r"Here is my response:"
_MARK = re.compile(
    f"(?P<opens>{'|'.join(_OPENS)})|(?P<closes>{'|'.join(_CLOSES)})|(?P<heading>{_HEADING})",
    re.IGNORECASE | re.DOTALL,
)
# What some write around the answer that follows their thoughts.
_ANSWER_TAG = re.compile(
    r"<\s?/?\s?(?:answer|response|final_answer)\s?>|<\|(?:START|END)_RESPONSE\|>|\[END FINAL RESPONSE\]"
    r"|<\|(?:begin|end)_of_solution\|>|<\|(?:open|close)\|>(?:response|message)<\|sep\|>",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Speech:
    """What a model says: its output without thoughts.

    `thought`: there were thoughts in it. `thinking`: it ends in the midst of them.
    """

    text: str
    thought: bool
    thinking: bool


def speech(output: str, opened: bool = False) -> Speech:
    """Return what of `output` is said.

    `opened`: the prompt has opened thoughts already, so that only their end is in the output. An end without
    a beginning means the same where nobody knows that: all before it was thought.
    """
    parts: list[str] = []
    thinking = thought = opened
    at, headed = 0, False
    for mark in _MARK.finditer(output):
        if mark["heading"] is not None and not (thinking and headed):
            continue
        thought = True
        if mark["opens"] is None:
            if not thinking:
                parts.clear()
            thinking, at = False, mark.end()
        elif not thinking:
            parts.append(output[at : mark.start()])
            thinking, headed = True, mark["opens"].endswith(":")
    if not thinking:
        parts.append(output[at:])
    text = "".join(parts)
    return Speech(_ANSWER_TAG.sub("", text) if thought else text, thought, thinking)


def closed(text: str) -> str:
    """Return `text`, which ends in the midst of thoughts, with the mark that ends them and nothing thought.

    Raises:
        ValueError: it has opened none, or nobody knows how they end.
    """
    opened = [mark["opens"] for mark in _MARK.finditer(text) if mark["opens"] is not None]
    if not opened:
        raise ValueError("the text has opened no thoughts")
    mark = opened[-1]
    if re.fullmatch(r"<[^|]*>", mark):
        end = mark.replace("<", "</", 1)
    elif mark in _ENDS:
        end = _ENDS[mark]
    else:
        raise ValueError(f"how thoughts end that {mark!r} begins is not known")
    return f"{text.rstrip()}\n\n{end}\n\n"
