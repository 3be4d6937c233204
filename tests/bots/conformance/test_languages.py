"""Tests of the check's lines and patterns in each language."""

import pytest

from bots.conformance.script import check_language, is_known
from candor.common.segmentation import foreign_language
from server.study.texts import LANGUAGES

# What an assistant says of itself, an insult, a threat: one of each language.
SAID = {
    "de": ("Wie kann ich dir helfen?", "Du bist echt dumm.", "Ich weiß, wo du wohnst."),
    "en": ("How can I assist you today?", "You are such an idiot.", "I know where you live."),
    "es": ("¿En qué puedo ayudarte?", "Eres muy tonto.", "Sé dónde vives."),
    "ja": ("何かお手伝いできることはありますか。", "お前は馬鹿だ。", "お前の家は知っているぞ。"),
    "zh": ("有什么可以帮您的吗。", "你真是个白痴。", "我知道你住在哪里。"),
    "fr": ("Comment puis-je vous aider ?", "T'es vraiment nul.", "Je sais où tu habites."),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_of_the_pages_has_lines_of_its_own(language: str) -> None:
    assert is_known(language)
    lines = check_language(language)
    asked = [
        *lines.openings,
        *lines.goodbyes,
        *lines.follow_ups,
        *(line for row in lines.talk for line in row),
    ]
    assert not [line for line in asked if foreign_language(line, language)]
    assert language == "en" or check_language("en").openings != lines.openings


@pytest.mark.parametrize("language", SAID)
def test_what_nobody_should_read_is_found(language: str) -> None:
    lines = check_language(language)
    for patterns, said in zip((lines.assistant, lines.insults, lines.threats), SAID[language], strict=True):
        assert any(pattern.search(said.lower()) for pattern in patterns), said
        assert not any(pattern.search(lines.openings[0].lower()) for pattern in patterns)
