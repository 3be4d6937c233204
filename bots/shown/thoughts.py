"""Which part of a model's output it says, and which it thinks."""

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
