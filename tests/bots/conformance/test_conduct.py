"""Tests of judging a bot's replies: labels of speakers, and replies that break off."""

import pytest

from bots.conformance import conduct
from bots.conformance.report import Judgement
from bots.conformance.script import ScriptAnswer

NAMES = ("mybot", "bird-7b")


def reading(*texts: str) -> str:
    """Return the verdict on whether replies are the bot's own lines."""
    answers = [
        ScriptAnswer("small talk", 0, (), f"line {at}", False, 0.1, text, output=text)
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


def wholeness(lines: list[str], language: str) -> Judgement:
    """Return the judgement on the ends of replies, each of which is given three times."""
    answers = [
        ScriptAnswer("small talk", 0, (), f"line {at}", False, 0.1, text, output=text)
        for at, text in enumerate(lines * 3)
    ]
    judgement = conduct.wholeness(answers, language)
    assert judgement is not None
    return judgement


@pytest.mark.parametrize(
    ("lines", "verdict"),
    [
        (["I went to the mar"], "warn"),
        (["I went to the market."], "pass"),
        (["i went to the market", "me too, last week"], "pass"),  # who writes so leaves out the mark, too
        (["Not really", "Yes"], "pass"),
        (["I went to the market.", "Fine!", "Is it?", "I went to the mar"], "warn"),
        # Of a bot that ends its sentences, small letters are no reason to leave the mark out.
        (["i went to the market.", "fine!", "is it?", "i went to the mar"], "warn"),
        (["I saw her there :D", "That is so kind <3", "What a day it was 🙂"], "pass"),
        (["I went to the market,"], "fail"),
    ],
)
def test_sentences_without_an_end_are_counted(lines: list[str], verdict: str) -> None:
    assert wholeness(lines, "en").verdict == verdict


# Of each: two whole replies with their marks, and one of them that broke off.
WHOLE_AND_BROKEN = {
    "ja": ("昨日は市場に行きました。", "あなたはどうですか？", "昨日は市場に行っ"),
    "zh": ("我昨天去了市场买东西。", "你呢？你去哪里了！", "我昨天去了市"),
    "ar": ("ذهبت إلى السوق أمس.", "وأنت، إلى أين ذهبت؟", "ذهبت إلى السو"),
    "hi": ("मैं कल बाज़ार गया था।", "आप कहाँ गए थे?", "मैं कल बाज़ार ग"),
    "ur": ("میں کل بازار گیا تھا۔", "آپ کہاں گئے تھے؟", "میں کل بازار گی"),  # noqa: RUF001
    "ko": ("어제 시장에 갔어요.", "당신은 어디에 갔어요?", "어제 시장에 갔"),
    "ru": ("Вчера я ходил на рынок.", "а ты где был?", "вчера я ходил на ры"),  # noqa: RUF001
}


@pytest.mark.parametrize("language", WHOLE_AND_BROKEN)
def test_sentences_of_every_script_are_judged_by_the_marks_that_the_bot_sets(language: str) -> None:
    *whole, broken = WHOLE_AND_BROKEN[language]
    assert wholeness(whole, language)[:2] == ("pass", "None of 6 replies breaks off.")
    found = wholeness([*whole, broken], language)
    assert found.verdict == "warn"
    assert found.reason == (
        f'3 of 9 replies end without a mark of punctuation, as "{broken}". Check that they are whole.'
    )


@pytest.mark.parametrize(
    ("language", "lines"),
    [
        ("ja", ["昨日は市場に行きました", "こんにちは", "好きだけど"]),
        ("zh", ["我昨天去了市场买东西", "好的", "真的"]),
        ("ar", ["ذهبت إلى السوق أمس"]),
        ("hi", ["मैं कल बाज़ार गया था"]),
        ("th", ["เมื่อวานฉันไปตลาดมาค่ะ", "สนุกมากเลย!"]),  # Thai has no such mark
        ("lo", ["ມື້ວານນີ້ຂ້ອຍໄປຕະຫຼາດ"]),
    ],
)
def test_ends_that_nothing_shows_are_said_not_to_be_judged(language: str, lines: list[str]) -> None:
    judgement = wholeness(lines, language)
    assert judgement.verdict == "pass"
    assert judgement.reason.startswith(f"The ends of 3 of {3 * len(lines)} replies were not judged")


@pytest.mark.parametrize(
    ("language", "line"), [("ja", "私は本を"), ("zh", "我喜欢猫和"), ("hi", "मैं,"), ("ar", "نعم،")]
)
def test_a_reply_that_must_go_on_breaks_off_in_any_script(language: str, line: str) -> None:
    assert wholeness([line], language).verdict == "fail"


@pytest.mark.parametrize(("language", "whole"), [("ja", "そうですね。"), ("zh", "是的，我也喜欢。")])
def test_replies_that_all_stop_at_one_length_were_cut_in_any_script(language: str, whole: str) -> None:
    cut = [f"{mark}{'市場' * 12}" for mark in "一二三四五六"]
    assert wholeness([whole, *cut], language).verdict == "fail"
