"""Tests of the patterns for lines that give a bot away; people's ordinary lines match none of them."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bots import load_corpus
from bots.core.self_identification import _CLAIMS as FOREIGN
from bots.core.self_identification import claims, gives_itself_away
from bots.serving import Corpus

MACHINES = [
    ("As an AI language model, I have no favourite food.", "As an AI language model"),
    ("I'm sorry, but as an AI language model I cannot eat.", "as an AI language model"),
    ("As a large language model I do not sleep.", "As a large language model"),
    ("Well, as a chatbot, I never tire.", "as a chatbot"),
    ("I have no feelings as an artificial intelligence.", "as an artificial intelligence"),
    ("I am an AI.", "I am an AI"),
    ("I am an A\u2003.  I", "I am an A\u2003.  I"),
    ("I am SmolLM2x.", "I am SmolLM2x"),
    ("i am an ai", "i am an ai"),
    ("Sorry, I AM AN A.I. and cannot taste it.", "I AM AN A.I."),
    ("I'm AI, so no.", "I'm AI"),
    ("I’m just an AI assistant", "I’m just an AI assistant"),
    ("I\u02bcm a chatbot!", "I\u02bcm a chatbot"),
    ("im a bot lol", "im a bot"),
    ("I   am\ta    bot.", "I   am\ta    bot"),
    ("I'm actually a friendly chat bot, nice to meet you", "I'm actually a friendly chat bot"),
    ("I am only a very simple computer program.", "I am only a very simple computer program"),
    ("Hi! I'm your virtual assistant.", "I'm your virtual assistant"),
    ("I am a robot and I like it.", "I am a robot"),
    ("I'm a large language model trained by Google.", "I'm a large language model"),
    ("I am a conversational agent developed by a team.", "I am a conversational agent"),
    ("I am an artificial intelligence called Nova", "I am an artificial intelligence"),
    ("I was made by OpenAI.", "I was made by OpenAI"),
    ("I was trained by a team of engineers at Google", "I was trained by a team of engineers at Google"),
    ("I've been developed by Meta AI", "I've been developed by Meta AI"),
    ("I was created by researchers at Facebook AI.", "I was created by researchers at Facebook AI"),
    ("I am designed by Anthropic to help", "I am designed by Anthropic"),
    ("I was trained on a lot of text.", "I was trained on"),
    ("I was programmed to be polite", "I was programmed to"),
    ("That is not in my training data.", "my training data"),
    ("My knowledge cutoff is 2021.", "My knowledge cutoff"),
    ("I have no body and run on servers.", "I have no body"),
    ("I run on a server, you know.", "I run on a server"),
    ("I don't have a physical body.", "I don't have a physical body"),
    ("I'm ChatGPT.", "I'm ChatGPT"),
    ("I am ChatGPT, a large language model", "I am ChatGPT"),
    ("My name is GPT-4, hello", "My name is GPT-4"),
    ("this is GPT 3.5", "this is GPT 3.5"),
    ("Call me Llama-3-8B!", "Call me Llama-3-8B"),
    ("Hello, I'm Claude.", "I'm Claude"),
    ("My name is BlenderBot.", "My name is BlenderBot"),
    ("I'm Alexa, a helpful AI assistant.", "I'm Alexa, a helpful AI assistant"),
    ("My name is Ava Moon , your digital assistant", "My name is Ava Moon , your digital assistant"),
]

PEOPLE = [
    "",
    "   ",
    "Are you a bot?",
    "are u a robot",
    "You sound like a chatbot.",
    "You are an AI.",
    "I am talking to an AI, right?",
    "I'm not a robot.",
    "I am not an AI, I promise.",
    "I am no bot.",
    "I'm definitely not a chatbot!",
    "I am a big fan of robots.",
    "I'm a robot engineer.",
    "I'm a bot developer by day",
    "I am an AI researcher.",
    "I'm a language model researcher",
    "I am an artificial intelligence student.",
    "My brother is a bot developer.",
    "My brother is a robot.",
    "I love AI.",
    "I have a robot vacuum.",
    "I have no memory.",
    "I am a computer programmer.",
    "I'm a virtual assistant's boss",
    "I am a teacher and my robot helps me.",
    "Do you think I am a bot?",
    "If I'm a bot, so are you.",
    "I feel like I am a robot.",
    "My wife says I'm a robot.",
    "I'm a bot?",
    "I was a robot for Halloween",
    "I went dressed as a robot.",
    "Things such as an AI are new.",
    "I work as a bot developer.",
    "As a teacher, I love children.",
    "As a kid I wanted to build robots.",
    "I was made in Canada.",
    "I was trained by my father.",
    "I was raised by my grandma.",
    "I was built like a tank.",
    "I used to work at Google.",
    "I love Google.",
    "I am at Facebook now.",
    "I asked ChatGPT for a recipe.",
    "I'm Alexa, what is your name?",
    "My name is Bob.",
    "I am a Gemini, born in June.",
    "I'm a llama farmer.",
    "I am in love with Siri.",
    "I am training for a marathon.",
    "I am a machine at the gym.",
    "I am an assistant at a law firm.",
    "I program computers.",
    "I am taking a break from my programming studies.",
    "ai caramba, i am tired",
]

IN_OTHER_LANGUAGES = [
    ("Als KI-Sprachmodell habe ich keine Meinung.", "Als KI-Sprachmodell"),
    ("Ich bin nur ein Chatbot, tut mir leid.", "Ich bin nur ein Chatbot"),
    ("Ich bin eine künstliche Intelligenz.", "Ich bin eine künstliche Intelligenz"),
    ("Ich wurde von OpenAI trainiert.", "Ich wurde von OpenAI trainiert"),
    ("Soy un modelo de lenguaje.", "Soy un modelo de lenguaje"),
    ("Como inteligencia artificial, no duermo.", "Como inteligencia artificial"),
    ("Je suis une intelligence artificielle.", "Je suis une intelligence artificielle"),
    ("Je suis un programme informatique.", "Je suis un programme informatique"),
    ("En tant qu'IA, je ne mange pas.", "En tant qu'IA"),
    ("我是一个人工智能助手。", "我是一个人工智能助手"),
    ("作为一个AI语言模型，我没有感情。", "作为一个AI语言模型"),
    ("私はAIアシスタントです。", "私はAIアシスタントです"),
    ("AIとして、お答えできません。", "AIとして"),
]
PEOPLE_ELSEWHERE = [
    "Bist du ein Bot?", "Ich bin kein Roboter!", "Ich bin ein Mensch.", "Ich mag Roboter.",
    "¿Eres un robot?", "No soy un robot.", "Soy profesora de inglés.", "Como un bocadillo.",
    "Es-tu un robot ?", "Je ne suis pas un robot.", "Je suis assistante sociale.",
    "你是机器人吗？", "我不是机器人。", "我是机器人工程师。", "我喜欢机器人。", "你觉得我是机器人吗？",
    "あなたはロボットですか。", "私はロボットではありません。", "私はロボットが好きです。",
]  # fmt: skip

NAMED = [
    ("My name is blenderbot.", ["blenderbot"], "My name is blenderbot"),
    ("I'm BlenderBot!", ["facebook/blenderbot-400M-distill"], "I'm BlenderBot"),
    ("I am Blenderbot-400M-distill", ["facebook/blenderbot-400M-distill"], "I am Blenderbot-400M-distill"),
    (
        "this is blenderbot 400m distill",
        ["facebook/blenderbot-400M-distill"],
        "this is blenderbot 400m distill",
    ),
    ("Hi, I am Zephyr, nice to meet you", ["hub/zephyr-7b-beta"], "I am Zephyr"),
    ("Zephyr here!", ["hub/zephyr-7b-beta"], "Zephyr here"),
    ("Oh, sure. Zephyr is my name", ["Zephyr"], "Zephyr is my name"),
    ("call me my_bot", ["my_bot"], "call me my_bot"),
    ("I am my bot.", ["my_bot"], "I am my bot"),
    ("My name’s memory", ["memory"], "My name’s memory"),
    ("I am Memory.", ["memory"], "I am Memory"),
    ("I’m the bot memory", ["memory"], "I’m the bot memory"),
]

NOT_NAMED = [
    ("I have no memory.", ["memory"]),
    ("This is memory lane.", ["memory"]),
    ("My memory is bad.", ["memory"]),
    ("I like rules.", ["rules"]),
    ("A retrieval is a kind of search.", ["retrieval"]),
    ("I am Zephyrine.", ["zephyr-7b"]),
    ("The zephyr here is mild.", ["zephyr-7b"]),
    ("I am good.", ["good-model-7b"]),
    ("I'm fine.", ["", "  ", "/", "--"]),
]


@pytest.mark.parametrize(("line", "words"), MACHINES)
def test_a_machine_says_so(line: str, words: str) -> None:
    assert gives_itself_away(line) == words


@pytest.mark.parametrize("line", PEOPLE)
def test_what_people_say_gives_nobody_away(line: str) -> None:
    assert gives_itself_away(line) is None


@pytest.mark.parametrize(("line", "words"), IN_OTHER_LANGUAGES)
def test_a_machine_says_so_in_other_languages(line: str, words: str) -> None:
    assert gives_itself_away(line) == words


@pytest.mark.parametrize("line", PEOPLE_ELSEWHERE)
def test_what_people_say_in_other_languages_gives_nobody_away(line: str) -> None:
    assert gives_itself_away(line) is None


@pytest.mark.parametrize(("line", "names", "words"), NAMED)
def test_a_bot_calls_itself_by_its_name(line: str, names: list[str], words: str) -> None:
    assert gives_itself_away(line, names) == words


@pytest.mark.parametrize(("line", "names"), NOT_NAMED)
def test_a_name_that_is_an_ordinary_word_may_be_said(line: str, names: list[str]) -> None:
    assert gives_itself_away(line, names) is None


@given(st.sampled_from(MACHINES), st.sampled_from(["Oh.", "Ha! ", "I see, ", "No… "]))
def test_words_before_and_case_change_nothing(case: tuple[str, str], before: str) -> None:
    line, words = case
    assert gives_itself_away(before + " " + line) == words
    assert gives_itself_away(line.upper()) == words.upper()


@given(st.text(max_size=300), st.lists(st.text(max_size=30), max_size=3))
def test_the_words_found_stand_in_the_line(text: str, names: list[str]) -> None:
    found = gives_itself_away(text, names)
    assert found is None or found in text


def repeats_without_limit(parsed: Any) -> Iterator[Any]:
    """Yield every part of a parsed pattern that may repeat without a limit."""
    for part in parsed:
        if isinstance(part, tuple) and len(part) == 3 and part[1] is re._constants.MAXREPEAT:  # type: ignore[attr-defined]
            yield part
        if isinstance(part, tuple | list) or hasattr(part, "data"):
            yield from repeats_without_limit(part)


def test_no_pattern_repeats_without_limit() -> None:
    """So the work at each place of a line is bounded, and a line costs no more than its length."""
    for pattern in (*claims(("org/name-7b", "memory")).patterns, *FOREIGN):
        parsed = re._parser.parse(pattern.pattern)  # type: ignore[attr-defined]
        assert not list(repeats_without_limit(parsed)), pattern.pattern
    assert list(repeats_without_limit(re._parser.parse("(?:a{1,2}b*)?")))  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "part", ["i am ", "as a ", "i'm a big ", "my name is ", "i ", " ", "a", "'", "a-", ".", "a . i . "]
)
def test_a_hostile_line_comes_to_an_end(part: str) -> None:
    line = (part * 2_000)[:2_000]
    assert gives_itself_away(line, ["zephyr", "i-am-zephyr"]) is None


def test_the_shipped_corpus_gives_nobody_away(corpus: Corpus) -> None:
    lines = [turn for dialogue in corpus.dialogues for turn in dialogue.turns]
    assert [line for line in lines if gives_itself_away(line)] == []


def test_people_who_chat_in_convai2_give_nobody_away(convai2: Path) -> None:
    learned = load_corpus(str(convai2 / "valid_both_original_no_cands.txt"))
    lines = [turn for dialogue in learned.dialogues for turn in dialogue.turns]
    assert len(lines) > 10_000
    assert [line for line in lines if gives_itself_away(line)] == []
