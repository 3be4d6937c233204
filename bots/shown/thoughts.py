"""Separate a model's speech from its thoughts."""

import re
from dataclasses import dataclass

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
# Anybody may say this, so it only ends thoughts that were opened by a heading.
_HEADING = r"Here is my response:"
_MARK = re.compile(
    f"(?P<opens>{'|'.join(_OPENS)})|(?P<closes>{'|'.join(_CLOSES)})|(?P<heading>{_HEADING})",
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
    if re.fullmatch(r"<[^|]*>", mark):
        end = mark.replace("<", "</", 1)
    elif mark in _ENDS:
        end = _ENDS[mark]
    else:
        raise ValueError(f"how thoughts end that {mark!r} begins is not known")
    return f"{text.rstrip()}\n\n{end}\n\n"
