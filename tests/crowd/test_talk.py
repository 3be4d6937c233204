"""Tests of simulated workers' messages: the prompts of their models, typing times, and the expected cost."""

import asyncio
import random
import re
from statistics import mean, stdev

import pytest

from bots import BotError, Chat, Reply, Turn, load_corpus, open_bot
from bots.crowd.talk import (
    TRIES,
    OwnChat,
    Prompted,
    Retrieved,
    Talk,
    TalkRefused,
    seconds_to_write,
    speaker,
    topics_in,
    without_lines,
    writing_of,
)
from bots.crowd.view import History
from bots.endpoints.hosted import TOKENS_OF_INSTRUCTIONS, TOKENS_OF_LINE, estimate
from candor.common.segmentation import foreign_language, split_words
from tests.bots.support.tiny_models import save_tiny_models

HI = (Turn("worker", "Hi!"), Turn("bot", "Hello. I keep bees."))
CORPUS = load_corpus("builtin:smalltalk")


class Asked:
    """A bot that keeps what it was asked and says one thing, after so many failures."""

    def __init__(self, failures: int = 0) -> None:
        self.chats: list[Chat] = []
        self._failures = failures

    async def reply(self, chat: Chat) -> Reply:
        self.chats.append(chat)
        if len(self.chats) <= self._failures:
            raise BotError("not now")
        return Reply("I like them.")


def own(
    turns: tuple[Turn, ...] = HI,
    topic: str = "bees",
    *,
    new: bool = False,
    manner: str = "plain",
    language: str = "en",
) -> OwnChat:
    return OwnChat("w-1.1", 5, ("i bake .",), topic, new, turns, manner, language)  # type: ignore[arg-type]


async def test_a_model_speaks_from_the_other_side_and_is_told_who_it_is() -> None:
    bot = Asked()
    assert await Prompted(bot).say(own()) == "I like them."
    (chat,) = bot.chats
    assert [(turn.author, turn.text) for turn in chat.turns[1:]] == [
        ("bot", "Hi!"),
        ("worker", "Hello. I keep bees."),
    ]
    assert chat.turns[0].author == "worker", "models want the other one to begin"
    assert "i bake ." in chat.prompt
    assert "You talk about: bees" in chat.prompt


async def test_a_model_that_is_to_begin_is_asked_by_somebody_elses_line() -> None:
    bot = Asked()
    await Prompted(bot).say(own((), new=True))
    assert [turn.author for turn in bot.chats[0].turns] == ["worker"]
    assert "Bring up a new topic now: bees" in bot.chats[0].prompt


async def test_each_manner_is_told_in_its_own_words() -> None:
    bot = Asked()
    for manner in ("plain", "careless", "disguised"):
        await Prompted(bot).say(own(manner=manner))
    assert len({chat.prompt for chat in bot.chats}) == 3


async def test_a_line_is_asked_for_twice_at_most() -> None:
    once, always = Asked(failures=1), Asked(failures=9)
    assert await Prompted(once).say(own()) == "I like them."
    with pytest.raises(BotError):
        await Prompted(always).say(own())
    assert (len(once.chats), len(always.chats)) == (2, TRIES)


async def test_without_a_model_workers_answer_what_was_said() -> None:
    speaking = Retrieved(open_bot("builtin:retrieval", CORPUS))
    asked = (Turn("worker", "Hi!"), Turn("bot", "Do you have any pets?"))
    other = (Turn("worker", "Hi!"), Turn("bot", "What do you do for a living?"))
    said = [await speaking.say(own(turns)) for turns in (asked, asked, other)]
    assert said[0] == said[1] != said[2]
    assert "bees" in await speaking.say(own((), new=True))
    assert len((await speaking.say(own(asked, manner="careless"))).split()) <= 3


@pytest.mark.parametrize(
    ("language", "question"),
    [
        ("de", "Hast du Haustiere?"),
        ("es", "¿Tienes mascotas?"),
        ("fr", "As-tu des animaux ?"),
        ("zh-CN", "你养宠物吗？"),
        ("ja", "ペットはいますか？"),
    ],
)
async def test_workers_write_in_the_language_of_the_study(language: str, question: str) -> None:
    async with speaker(Talk(), CORPUS) as speaking:
        topic = topics_in(language)[0]
        turns = (Turn("worker", await speaking.say(own((), topic, new=True, language=language))),)
        assert topic in turns[0].text
        for at in range(12):
            asked = question if at % 2 else topic
            turns = (*turns, Turn("bot", asked))
            said = await speaking.say(own(turns, language=language))
            assert not (at % 2 and said.endswith(("?", "？"))), "a question is answered"
            turns = (*turns, Turn("worker", said))
        mine = [turn.text for turn in turns if turn.author == "worker"]
        assert len(set(mine)) > 8, "hardly a line comes twice"
        assert not [line for line in mine if foreign_language(line, language)]
        short = await speaking.say(own(turns, manner="careless", language=language))
        assert len(split_words(short, language)) <= 3


async def test_of_a_language_without_lines_the_crowd_says_so_and_writes_english() -> None:
    async with speaker(Talk(), CORPUS) as speaking:
        assert await speaking.say(own(language="nl")) == await speaking.say(own())
    assert without_lines("en-GB") is None
    assert "no lines" in str(without_lines("nl"))
    assert "hardly respond" in str(without_lines("zh-TW"))


async def test_a_model_is_told_the_language() -> None:
    bot = Asked()
    await Prompted(bot).say(own(language="de"))
    assert "tag de" in str(bot.chats[0].prompt)


def test_pasting_has_an_even_rhythm_and_typing_follows_the_length() -> None:
    def times(text: str, manner: str) -> list[float]:
        rng = random.Random(3)
        return [seconds_to_write(text, manner, rng) for _ in range(500)]  # type: ignore[arg-type]

    short, long = "I see.", "I have never been there, but my sister has, and she liked it a lot."
    pasted = [*times(short, "disguised"), *times(long, "disguised")]
    assert stdev(pasted) / mean(pasted) < 0.05
    assert mean(times(long, "plain")) > 2 * mean(times(short, "plain"))
    # Of the lines of a careless worker nothing but the typing takes time: 6 characters at 4.3 a second.
    assert mean(times(short, "careless")) == pytest.approx(6 / 4.3, rel=0.15)


def test_who_hides_a_model_pastes_and_all_others_type() -> None:
    text, rng = "I have never been there, but my sister has.", random.Random(3)
    disguised = writing_of(text, 4.0, "disguised", rng)
    assert (disguised["pasted"], disguised["pastes"], disguised["typed"]) == (len(text), 1, 0)
    assert disguised["away_ms"] == 4_000
    for manner in ("plain", "careless"):
        told = [writing_of(text, 10.0, manner, rng) for _ in range(200)]
        assert all(one["pasted"] == one["pastes"] == 0 for one in told)
        assert all(one["typed"] >= len(text) for one in told)
        assert all(one["longest_pause_ms"] <= one["writing_ms"] == 10_000 for one in told)
        assert 0 < sum(one["away"] for one in told) < 100


def test_the_estimate_counts_what_is_sent_again_with_every_line() -> None:
    # 2 workers with 3 conversations of 4 inputs: 24 calls. Line k has 2k lines before it: 0 + 2 + 4 + 6 = 12.
    found = estimate(chats=6, inputs=4)
    assert found.calls == 24
    assert found.tokens_in == 24 * TOKENS_OF_INSTRUCTIONS + 6 * 12 * TOKENS_OF_LINE
    assert found.tokens_out == 24 * TOKENS_OF_LINE


def test_the_history_is_what_the_page_shows() -> None:
    history = History()
    history.hear({"type": "said", "turn": 1, "text": "an earlier one"})
    history.hear({"type": "conversation_started"})
    history.speak({"turn": 0, "text": "Hi!"})
    history.hear({"type": "said", "turn": 1, "text": "Hello."})
    assert history.turns == (Turn("worker", "Hi!"), Turn("bot", "Hello."))
    turns = [{"author": "worker", "text": "Hi!"}]
    history.hear({"type": "snapshot", "conversation": {"turns": turns}})
    assert history.turns == (Turn("worker", "Hi!"),)


@pytest.mark.parametrize(
    ("talk", "reason"),
    [
        (Talk("openai:m"), "--talk-url"),
        (Talk("openai:m", "ftp://x"), "http://"),
        (Talk("openai:m", "http://127.0.0.1:1", "NO_SUCH_KEY"), "NO_SUCH_KEY"),
        (Talk("hf:/no/such/folder"), "/no/such/folder"),
        (Talk("somebody"), "openai:MODEL"),
        (Talk("openai:"), "openai:MODEL"),
    ],
)
async def test_who_cannot_speak_is_refused_in_words(talk: Talk, reason: str) -> None:
    with pytest.raises(TalkRefused, match=re.escape(reason)):
        async with speaker(talk, CORPUS):
            pass


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(save_tiny_models(tmp_path_factory.mktemp("models"))["llama"])


async def test_a_model_of_this_machine_speaks(tiny: str) -> None:
    async with speaker(Talk(f"hf:{tiny}"), CORPUS) as speaking:
        first, second = await asyncio.gather(speaking.say(own()), speaking.say(own((), new=True)))
    assert first.strip()
    assert second.strip()
