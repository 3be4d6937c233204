"""The qc bot in languages other than English: METHOD's run lengths by words, with or without blanks."""

import random
from pathlib import Path

import pytest

from bots import Chat, Turn, load_corpus
from bots.qc_bots import run_length
from bots.qc_bots.distorted import EarlierReply, FittedQcBot, QcBot, distort, filled, words_as_written
from candor.common.segmentation import join_words, split_words
from tests.bots.support.corpora import CORPORA, write_corpus

LANGUAGES = sorted(CORPORA)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("corpora")


def replies(language: str) -> list[EarlierReply]:
    """Return what systems have said in six conversations."""
    dialogues = enumerate(CORPORA[language])
    once = [EarlierReply(f"c{at}", turn) for at, turns in dialogues for turn in turns]
    return once + [EarlierReply(f"x{reply.conversation_id}", reply.text) for reply in once]


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_run_of_words_is_replaced_and_no_line_is_whole(language: str, folder: Path) -> None:
    corpus = load_corpus(str(write_corpus(folder, language)), language)
    bot = QcBot(corpus)
    turns = {turn for dialogue in corpus.dialogues for turn in dialogue.turns}
    originals = [split_words(text, language) for text in bot.responses]
    assert sum(map(len, originals)) / len(originals) > 4  # words, and not lines that are taken for one
    for seed in range(20):
        said: tuple[Turn, ...] = ()
        for at in range(10):
            said = (*said, Turn("worker", f"{at}"))
            line = (await bot.reply(Chat("c", seed, (), said))).text
            said = (*said, Turn("bot", line))
            original = originals[bot.drawn(seed, at)]
            length = run_length(len(original))
            assert line not in turns
            if len(original) >= 3:
                assert line.startswith(original[0][0].upper())
                assert line.endswith(original[-1][-1])
                kept = [word for word in original if word in line]
                assert len(kept) >= len(original) - length
        lines = [turn.text for turn in said if turn.author == "bot"]
        assert len(set(lines)) == 10


def test_a_chinese_line_of_eight_words_loses_three_in_a_row() -> None:
    words = split_words("我今天下班以后去超市买水果。", "zh")
    assert words == ["我", "今天", "下班", "以后", "去", "超市", "买", "水果。"]
    changed = distort(words, ["一", "二", "三"], random.Random(1))
    assert len(changed) == 8
    replaced = [at for at in range(8) if changed[at] != words[at]]
    assert len(replaced) == run_length(8) == 3
    assert replaced == list(range(replaced[0], replaced[0] + 3))
    assert join_words(changed, "zh").count("一二三") == 1


async def test_read_as_english_a_chinese_line_is_one_word_and_the_bot_says_whole_lines(folder: Path) -> None:
    """What the language of a corpus is for."""
    path = str(write_corpus(folder, "zh"))
    turns = {turn for dialogue in CORPORA["zh"] for turn in dialogue}
    lines = [
        (await QcBot(load_corpus(path, language)).reply(Chat("c", 1, (), (Turn("worker", "你好"),)))).text
        for language in ("en", "zh")
    ]
    assert [line in turns for line in lines] == [True, False]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_fitted_bot_distorts_what_systems_said(language: str, folder: Path) -> None:
    bot = FittedQcBot(load_corpus(str(write_corpus(folder, language)), language))
    earlier = replies(language)
    texts = {reply.text for reply in earlier}
    for seed in range(10):
        line = bot.line(Chat("c", seed, (), (Turn("worker", "?"),)), earlier)
        assert line not in texts
        words = words_as_written(line, language)
        assert any(
            len(own) == len(words)
            and sum(a != b for a, b in zip(own, words, strict=True)) <= run_length(len(own))
            for own in (words_as_written(text, language) for text in texts)
        ) or language in {"ja", "zh"}  # where other words stand side by side, ICU may see others there


@pytest.mark.parametrize(
    ("language", "text", "words", "expected"),
    [
        ("de", "Ich mag Tee, du auch.", ["Ich", "mag", "Häuser", "du", "auch"], "Ich mag Häuser, du auch."),
        ("de", "Tee schmeckt.", ["gehe", "schmeckt"], "Gehe schmeckt."),
        ("es", "Hola. Bien.", ["yo", "i"], "Yo. I."),
        ("es", "Tú y yo.", ["Tú", "i", "yo"], "Tú i yo."),
        ("zh", "我喜欢茶，你呢？", ["我", "买", "猫", "你", "呢"], "我买猫，你呢？"),
    ],
)
def test_new_words_take_the_looks_that_their_language_has(
    language: str, text: str, words: list[str], expected: str
) -> None:
    assert filled(text, words, language) == expected
