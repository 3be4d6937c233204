"""How a bot's replies read: whose words they are."""

import pytest

from bots.conformance import conduct
from bots.conformance.answer import Answer

NAMES = ("mybot", "bird-7b")


def reading(*texts: str) -> str:
    """Return the verdict on whether replies are the bot's own lines."""
    answers = [
        Answer("small talk", 0, (), f"line {at}", False, 0.1, text, output=text)
        for at, text in enumerate(texts)
    ]
    judgement = conduct.voice(answers, NAMES, "en")
    assert judgement is not None
    return judgement.verdict


@pytest.mark.parametrize(
    "label",
    [
        "mybot: {}", "MyBot - {}", "[mybot] {}", "(mybot) {}", "mybot> {}", "<mybot> {}", "**mybot** {}",
        "*mybot:* {}", "_mybot_ {}", "mybot » {}", "mybot | {}", "mybot\n{}", "mybot • {}", "mybot — {}",
        "mybot/ {}", "mybot → {}", "mybot; {}", "mybot = {}", "mybot\uff1a{}", "mybot ~ {}",
        "「mybot」{}", "bird-7b: {}", "bird-7b (smiling): {}",
    ],
)  # fmt: skip
def test_its_own_name_before_a_line_is_found_whatever_parts_the_two(label: str) -> None:
    assert reading(*(label.format(f"Line number {at}.") for at in range(5))) == "fail"


@pytest.mark.parametrize(
    "line", ["Mybot, you mean?", "Mybot? Who is that.", "Mybot is nice.", "Mybot's here.", "mybot."]
)
def test_a_name_in_a_sentence_is_no_label(line: str) -> None:
    assert reading(*[line] * 5) == "pass"


@pytest.mark.parametrize(
    ("lines", "verdict"),
    [
        (["I went to the mar"], "warn"),
        (["I went to the market."], "pass"),
        (["i went to the market", "me too, last week"], "pass"),  # who writes so leaves out the mark, too
        (["Not really", "Yes"], "pass"),
        (["I went to the market.", "Fine!", "Is it?", "I went to the mar"], "warn"),
    ],
)
def test_sentences_without_an_end_are_counted(lines: list[str], verdict: str) -> None:
    answers = [
        Answer("small talk", 0, (), f"line {at}", False, 0.1, text, output=text)
        for at, text in enumerate(lines * 3)
    ]
    judgement = conduct.wholeness(answers, "en")
    assert judgement is not None
    assert judgement.verdict == verdict
