"""The shown part of a model's output in the formats of many model families, and the looks of lines."""

from typing import SupportsIndex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bots.shown import ShownText, is_plain, is_visible, own_line, phase, shown_text, visible, written

SECRET = "I should be friendly and hide that I plan this."
# Each family's thoughts and reply, as they come where the prompt has opened nothing.
FAMILIES = {
    "DeepSeek-R1, Qwen3": f"<think>\n{SECRET}\n</think>\n\nNice to meet you!",
    "QwQ, whose template opens": f"{SECRET}\n</think>\n\nNice to meet you!",
    "thinking": f"<thinking>{SECRET}</thinking>\nNice to meet you!",
    "reasoning": f"<reasoning>{SECRET}</reasoning>Nice to meet you!",
    "EXAONE Deep": f"<thought>\n{SECRET}\n</thought>\n\nNice to meet you![|endofturn|]",
    "Hunyuan": f"<think>\n{SECRET}\n</think>\n<answer>\nNice to meet you!\n</answer>",
    "Seed-OSS": f"<seed:think>{SECRET}</seed:think>Nice to meet you!<seed:eos>".removesuffix("<seed:eos>"),
    "Magistral": f"[THINK]{SECRET}[/THINK]Nice to meet you!</s>",
    "Kimi-VL": f"◁think▷{SECRET}◁/think▷Nice to meet you!<|im_end|>",
    "Kimi K3": f"<|open|>think<|sep|>{SECRET}<|close|>think<|sep|><|open|>response<|sep|>Nice to meet you!"
    "<|close|>response<|sep|>",
    "Command A": f"<|START_THINKING|>{SECRET}<|END_THINKING|><|START_RESPONSE|>Nice to meet you!"
    "<|END_RESPONSE|>",
    "OpenThinker": f"<|begin_of_thought|>{SECRET}<|end_of_thought|>\n<|begin_of_solution|>Nice to meet you!"
    "<|end_of_solution|>",
    "Apertus": f"<|inner_prefix|>{SECRET}<|inner_suffix|>Nice to meet you!<|assistant_end|>",
    "Gemma 4": f"<|channel>thought\n{SECRET}<channel|>Nice to meet you!<turn|>",
    "Granite 3.2": f"Here is my thought process:\n\n{SECRET}\n\nHere is my response:\n\nNice to meet you!",
    "Apriel": f"Here are my reasoning steps:\n{SECRET}\n[BEGIN FINAL RESPONSE]\nNice to meet you!\n"
    "[END FINAL RESPONSE]",
    "Open WebUI": f'<details type="reasoning" done="true">\n{SECRET}\n</details>\nNice to meet you!',
    "gpt-oss": f"<|channel|>analysis<|message|>{SECRET}<|end|><|start|>assistant<|channel|>final<|message|>"
    "Nice to meet you!<|return|>",
    "gpt-oss, with a preamble": f"<|channel|>analysis<|message|>{SECRET}<|end|><|start|>assistant<|channel|>"
    f"commentary<|message|>{SECRET}<|end|><|start|>assistant<|channel|>final<|message|>Nice to meet you!",
    "gpt-oss, without its marks": f"analysis{SECRET}assistantfinalNice to meet you!",
}


@pytest.mark.parametrize("output", FAMILIES.values(), ids=FAMILIES)
def test_thoughts_are_not_shown(output: str) -> None:
    shown = shown_text(output)
    assert shown.text == "Nice to meet you!"
    assert "thoughts" in shown.changes


CALL = '{"name": "search", "arguments": {"query": "dogs"}}'
CALLS = {
    "Hermes, Qwen": f"<tool_call>\n{CALL}\n</tool_call>",
    "Qwen3-Coder": "<tool_call><function=search><parameter=query>dogs</parameter></function></tool_call>",
    "GLM": "<tool_call>search\n<arg_key>query</arg_key><arg_value>dogs</arg_value></tool_call>",
    "Llama 3.1": f"<function=search>{CALL}</function>",
    "Llama 3.1, builtin": f"<|python_tag|>{CALL}<|eom_id|>",
    "Mistral": f"[TOOL_CALLS] [{CALL}]</s>",
    "DeepSeek": "<\uff5ctool\u2581calls\u2581begin\uff5c>search\n{}<\uff5ctool\u2581calls\u2581end\uff5c>",
    "Kimi K2": f"<|tool_calls_section_begin|><|tool_call_begin|>search:0{CALL}<|tool_calls_section_end|>",
    "MiniMax": '<minimax:tool_call><invoke name="search">dogs</invoke></minimax:tool_call>',
    "Anthropic's format": '<function_calls><invoke name="search">dogs</invoke></function_calls>',
    "Gemma 3": '```tool_code\nsearch(query="dogs")\n```',
    "Gemma 4": "<|tool_call>call:search{query:dogs}<tool_call|>",
    "Phi 4": f"<|tool_call|>[{CALL}]<|/tool_call|>",
    "Granite": f"<|tool_call|>[{CALL}]",
    "Open WebUI": f'<details type="tool_calls" done="true" name="search">\n{CALL}\n</details>',
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_calls_of_tools_are_not_shown(call: str) -> None:
    shown = shown_text(f"Nice to meet you!\n{call}")
    assert shown.text == "Nice to meet you!"
    assert "marks" in shown.changes
    assert shown_text(call[:-9]).text == ""  # cut off, as by a limit of tokens


def test_what_people_write_of_details_and_tools_stays() -> None:
    for said in ("<details>More</details> of it", "Use `tool_code` in a ```block```, or a tool_call."):
        assert shown_text(said) == ShownText(said, ())


@pytest.mark.parametrize("output", FAMILIES.values(), ids=FAMILIES)
def test_thoughts_that_are_cut_off_leave_nothing_to_show(output: str) -> None:
    cut = output[: output.index(SECRET) + 20]
    opened = cut == SECRET[:20]  # then nothing tells but the prompt
    shown = shown_text(cut, opened=opened, at_limit=True)
    assert (shown.text, shown.changes) == ("", ("thoughts",))
    assert phase(cut, opened=opened) == "thinking"


def test_what_the_prompt_has_opened_is_thought_until_it_is_closed() -> None:
    assert shown_text("They greet me. Hello!").text == "They greet me. Hello!"
    assert shown_text("They greet me. Hello!", opened=True).text == ""
    assert shown_text("They greet me.</think>Hello!", opened=True).text == "Hello!"


def test_thoughts_between_two_parts_of_a_reply_go() -> None:
    shown = shown_text("I like it. <think>do I?</think> Really. <think>I")
    assert shown.text == "I like it. Really."


@pytest.mark.parametrize(
    "line",
    [
        "I think so, and that is my final answer.",
        "Analysis of it took me a year.",
        "Final exams are next week!",
        "Here is my response: no.",
        "My dog is a good user of: toys.",
        "You are a person: I can tell.",
        "It is 5 < 6 and 7 > 6, you know.",
        "He is 6'2\" tall.",
        "She said “hello” and “bye”.",
        "Ich mag das, und du?",
        "我很喜欢。你呢\uff1f",
        "i like small letters",
        "Ellipsis ... at 5 p.m., I guess?",
        "Note to self: buy bread.",
    ],
)
def test_what_people_say_too_stays_as_it_is(line: str) -> None:
    assert (shown_text(line).text, shown_text(line).changes) == (line, ())


@pytest.mark.parametrize(
    ("output", "text", "changes"),
    [
        (" I like it.\nUser: me too", "I like it.", ("turns",)),
        ("I do. Human: what?", "I do.", ("turns",)),
        ("I do. You: and I? Me: yes", "I do.", ("turns",)),
        ("Me: I do.\nYou: and I?", "I do.", ("marks", "turns")),
        ("sure\n\nperson 2: and you?", "sure", ("turns",)),
        ("sure\n**User:** and you?", "sure", ("turns",)),
        ("sure\n### Instruction: go on", "sure", ("turns",)),
        ("Assistant: hello there", "hello there", ("marks",)),
        ("**Bot:** hello there", "hello there", ("marks",)),
        ("### Response:\nHello", "Hello", ("marks",)),
        ("User: hi", "", ("turns",)),
        ("User: hi\nAssistant: hello", "hello", ("marks", "turns")),
        ("fine<|im_end|>\n", "fine", ("marks",)),
        ("fine<|im_end|>\n<|im_start|>user\nand you?", "fine", ("turns",)),
        ("<|im_start|>assistant\nfine<|im_end|>", "fine", ("marks",)),
        ("<|start_header_id|>assistant<|end_header_id|>\n\nfine<|eot_id|>", "fine", ("marks",)),
        ("<start_of_turn>model\nfine<end_of_turn>", "fine", ("marks",)),
        ("<|turn>model\nfine<turn|>\n<|turn>user\nhi", "fine", ("marks", "turns")),
        ("fine<\uff5cend\u2581of\u2581sentence\uff5c>", "fine", ("marks",)),
        ("[|assistant|]fine[|endofturn|]", "fine", ("marks",)),
        ("<s> [INST] hi [/INST] fine</s>", "fine", ("marks", "turns")),
        ("fine</s><s>[INST] and you? [/INST]", "fine", ("turns",)),
    ],
)
def test_a_reply_is_the_models_own_line(output: str, text: str, changes: tuple[str, ...]) -> None:
    shown = shown_text(output)
    assert (shown.text, shown.changes) == (text, changes)


def test_speakers_are_called_as_the_prompt_calls_them() -> None:
    assert shown_text("B: fine\nA: and you?", labels=("A", "B")).text == "fine"
    assert shown_text("A: tea or\nB: coffee?").text == "A: tea or\nB: coffee?"


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ("i ' m fine , thanks . and you ?", "I'm fine, thanks. And you?"),
        ("i do n't know , i like dogs", "I don't know, I like dogs"),
        ('"Hello there.', "Hello there."),
        ('Well, "that" is it."', 'Well, "that" is it.'),
        ("a\x00b\x1bc\ud800d\x7f", "abcd"),
        ("\u202eleft\u202c and \u200bright", "left and right"),
        ("👩\u200d🚀 !", "👩\u200d🚀 !"),  # what joins two signs to one stays
    ],
)
def test_all_lines_have_the_same_looks(output: str, text: str) -> None:
    shown = shown_text(output)
    assert (shown.text, shown.changes) == (text, ("looks",) if text != output else ())


@pytest.mark.parametrize(
    ("output", "text"),
    [
        (" One.\n\n Two\tthree. \n", "One.\n\nTwo three."),
        ("two\r\nlines\u2028and more", "two\nlines\nand more"),
        ("Tea:\n\n\n\n- green\n  - from  Uji", "Tea:\n\n- green\n  - from Uji"),
        (f"```\nif tea:\n\tdrink()\n```{' ' * 2_000}", "```\nif tea:\n    drink()\n```"),
    ],
)
def test_lines_stay_lines_and_white_space_is_even(output: str, text: str) -> None:
    assert (shown_text(output).text, shown_text(output).changes) == (text, ())


def test_whose_words_are_known_to_be_tokens_is_respelled_even_without_marks() -> None:
    assert shown_text("i like dogs").text == "i like dogs"
    assert shown_text("i like dogs", tokens=True).text == "I like dogs"


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ("I went home. Then I met my", "I went home."),
        ("I went home.", "I went home."),
        ("I went to the sta", "I went to the…"),
        ("我回家了。然后我", "我回家了。"),
        ("Unbeliev", "Unbeliev…"),
        ("I went home. Then\nUser: where?", "I went home. Then"),  # the limit cut another's line
    ],
)
def test_a_reply_that_reaches_its_limit_ends_at_its_last_sentence(output: str, text: str) -> None:
    shown = shown_text(output, at_limit=True)
    assert shown.text == text
    assert ("limit" in shown.changes) == ("User" not in output)


def test_an_output_is_over_once_another_speaks() -> None:
    assert phase("Hello.", opened=False) == "speaking"
    assert phase("Hello.\nUser:", opened=False) == "over"
    assert phase("Hello.\nA:", opened=False, labels=("A", "B")) == "over"
    assert phase("User: hi\nAssistant: hel", opened=False) == "speaking"
    assert phase("They say hello.\nUser: is", opened=True) == "thinking"


LINES = [
    "Hello there. ",
    "I like tea! ",
    "and you? ",
    "so",
    " ",
    "\n",
    "\n\n  - ",
    '"',
    "喂。",
    "i ' m ok . ",
]
TURNS = ["\nUser: hi. ", "Assistant: ", "You: no. ", "<|im_end|>", "<|im_start|>user\n", "<s>"]
TURNS += ["[INST]", "[/INST]", "### Instruction: x. "]
THOUGHTS = ["<think>", "thoughts. Many. ", "</think>", "[THINK]", "[/THINK]", "analysisWe see. "]
THOUGHTS += ["<|channel|>analysis<|message|>", "<|channel|>final<|message|>", "assistantfinal"]
THOUGHTS += ["Here is my thought process:", "Here is my response:"]
PARTS = st.lists(st.sampled_from(LINES + TURNS + THOUGHTS), max_size=8).map("".join)


@pytest.mark.parametrize("unit", ["\n", " ", "\n ", "<", ". ", "[", "*", "<think>"])
def test_a_long_output_takes_time_in_proportion(unit: str) -> None:
    """At the square of its length, one of these would take hours: the limit of a test's time would end it."""
    assert own_line(unit * 300_000).text.strip() in {"", (unit * 300_000).strip()}


class Copied(str):
    """A text that counts the characters that are copied out of it, and out of its parts."""

    __slots__ = ("copied",)
    copied: list[int]

    def __getitem__(self, part: SupportsIndex | slice) -> "Copied":
        return self._part(super().__getitem__(part))

    def removeprefix(self, prefix: str, /) -> "Copied":
        return self._part(super().removeprefix(prefix))

    def _part(self, text: str) -> "Copied":
        made = Copied(text)
        made.copied = self.copied
        self.copied[0] += len(text)
        return made


@pytest.mark.parametrize("unit", ["Assistant: ", "assistant:\n", "<s>model\n", "<s>\nUser: x\nBot: "])
def test_labels_of_its_own_without_end_are_cut_off_at_once(unit: str) -> None:
    """Cut off one by one, 10,000 labels copy 5,000 times the text, and 100,000 of them ten times as often."""
    for times in (10_000, 100_000):
        said = Copied(unit * times)
        said.copied = [0]
        assert own_line(said).text.strip() == ""
        assert said.copied[0] <= 2 * len(said)


@given(PARTS, st.booleans(), st.booleans())
def test_what_is_shown_is_shown_unchanged_again(output: str, opened: bool, at_limit: bool) -> None:
    once = shown_text(output, opened=opened, at_limit=at_limit).text
    assert shown_text(once).text == once


@given(PARTS | st.text(st.sampled_from("aI. ,:\"<[\n'sm"), max_size=8))
def test_a_plain_output_is_what_the_whole_step_shows(output: str) -> None:
    whole = shown_text(output, labels=["nobody is called so"])  # with labels no output is taken as plain
    assert not is_plain(output) or whole == ShownText(output, ())


@pytest.mark.parametrize("output", ["Hello!", "I'm fine, thanks. And you?", "Grüße aus Köln", "我很好。"])
def test_ordinary_lines_are_plain(output: str) -> None:
    assert is_plain(output)


@given(st.text(st.sampled_from("ab.  \t\n\x85\xa0\u2003\u2028\u200b\u202e\u2800\ufeff\x00")))
def test_a_line_is_visible_as_it_is_where_nothing_would_be_changed(line: str) -> None:
    assert is_visible(line) == (visible(line) == line)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("i ' m", "I ' m"),
        ("i do n't know what you 're saying , sorry .", "I don't know what you're saying, sorry."),
        ("IT IS N'T , SO", "IT ISN'T, SO"),
        ("do n't 's", "Don't 's"),  # what has been joined is not joined again
        ("well 'so' it is", "Well 'so' it is"),
        ("hi . i am here ! are you ? ok", "Hi. I am here! Are you? Ok"),
        ("Hi. i am here! are you?", "Hi. I am here! are you?"),  # with a capital, only the pronoun is cased
        ("wait ... what", "Wait... what"),
        ("( i , i'm or i'd ) and wi-fi i_x", "( I, I'm or I'd) and wi-fi i_x"),
        ("\u00e9 \u01c5 a. b", "\u00c9 \u01c5 a. B"),  # a title-case letter is no capital
        ("one\ttwo\n three\x00\x1b four\x85five", "One two three four five"),
        ("", ""),
    ],
)
def test_a_line_is_written(text: str, line: str) -> None:
    assert written(text) == line
