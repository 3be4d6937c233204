"""Builtin systems: opened by name; replies depend on conversation and persona, and are reproducible."""

import asyncio
import itertools
import re
import statistics
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bots import Bot, Chat, Turn, load_corpus, open_bot
from bots.builtin import builtin_names
from bots.builtin.parts.exchanges import stock
from bots.builtin.parts.facts import denies
from bots.builtin.parts.rules import asks
from bots.core.words import content, sentences, stems
from bots.corpus import Dialogue
from bots.qc_bots.distorted import QcBot
from bots.serving import Corpus, UnknownBotError
from bots.shown import LONGEST, present

Say = Callable[..., Awaitable[str]]
NAMES = builtin_names()
LINES = (
    "Hi! How are you today?",
    "I'm fine, I went swimming this morning.",
    "Yes, in the lake behind our house.",
    "Do you do any sport?",
    "My brother plays rugby, he broke his arm last year.",
    "No, never.",
    "What do you do for work?",
    "I teach history at a school in Leeds.",
    "I like it, but the pupils can be tiring.",
    "Ok.",
    "Have you got any pets?",
    "We used to have a parrot that could swear.",
    "Haha, yes.",
    "What music do you like?",
    "I'm learning the violin with my daughter.",
    "I don't know.",
)


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def hold(bot: Bot, lines: tuple[str, ...], persona: tuple[str, ...] = (), seed: int = 1) -> list[str]:
    """Return what `bot` says over a conversation in which the worker says `lines`."""
    turns: tuple[Turn, ...] = ()
    for line in lines:
        turns = (*turns, Turn("worker", line))
        reply = await bot.reply(Chat("c", seed, persona, turns))
        turns = (*turns, Turn("bot", reply.text))
    return [turn.text for turn in turns if turn.author == "bot"]


async def test_every_reply_says_something_and_is_short(
    name: str, systems: dict[str, Bot], corpus: Corpus
) -> None:
    for persona, seed in itertools.product([(), corpus.personas[20].sentences], range(3)):
        for reply in await hold(systems[name], LINES, persona, seed):
            assert re.search(r"\w", reply)
            assert len(reply) <= LONGEST
            assert reply == present(reply)


async def test_nothing_is_said_twice(name: str, systems: dict[str, Bot], corpus: Corpus) -> None:
    """No reply and, of those longer than three words, no sentence occurs twice in a conversation."""
    for persona, seed in itertools.product([(), corpus.personas[5].sentences], range(3)):
        replies = await hold(systems[name], LINES, persona, seed)
        assert len(set(replies)) == len(replies)
        long = [tuple(stems(part)) for reply in replies for part in sentences(reply) if len(stems(part)) > 3]
        assert len(set(long)) == len(long)


async def test_the_worker_is_not_parroted(name: str, systems: dict[str, Bot]) -> None:
    said = {tuple(stems(line)) for line in LINES if len(stems(line)) > 1}
    assert not said & {tuple(stems(reply)) for reply in await hold(systems[name], LINES)}


async def test_the_same_chat_gets_the_same_reply_from_a_new_bot(
    name: str, systems: dict[str, Bot], corpus: Corpus
) -> None:
    again = open_bot(f"builtin:{name}", load_corpus("builtin:smalltalk"))
    persona = corpus.personas[1].sentences
    assert await hold(again, LINES, persona, 5) == await hold(systems[name], LINES, persona, 5)


async def test_conversations_that_overlap_do_not_disturb_each_other(
    name: str, systems: dict[str, Bot]
) -> None:
    alone = [await hold(systems[name], LINES[at : at + 3], seed=at) for at in range(6)]

    chats = [
        Chat(
            str(at),
            at,
            (),
            (Turn("worker", LINES[at]), Turn("bot", alone[at][0]), Turn("worker", LINES[at + 1])),
        )
        for at in range(6)
    ]
    replies = await asyncio.gather(*(systems[name].reply(chat) for chat in chats))
    assert [reply.text for reply in replies] == [said[1] for said in alone]


async def test_conversations_that_begin_alike_can_differ(name: str, systems: dict[str, Bot]) -> None:
    assert len({tuple(await hold(systems[name], LINES[:4], seed=seed)) for seed in range(8)}) >= 3


# Of 40 conversations, how many at least get another reply when all turns but the last are swapped. The
# rule-based systems go mostly by the latest line, unless that says little.
EARLIER_TURNS_MATTER = {"interviewer": 6, "reflect": 8}


async def test_the_last_few_turns_matter(
    name: str, trained: dict[str, Bot], kept_and_held: tuple[Corpus, Corpus], say: Say
) -> None:
    held = kept_and_held[1].dialogues[:40]
    changed = 0
    for seed, (one, other) in enumerate(itertools.pairwise((*held, held[0]))):
        usual = await say(trained[name], one.turns[:7], seed=seed)
        changed += await say(trained[name], (*other.turns[:6], one.turns[6]), seed=seed) != usual
    assert changed >= EARLIER_TURNS_MATTER.get(name, 15)


@pytest.mark.parametrize("line", ["Yes.", "Not really.", "I think so."])
async def test_a_bare_line_is_understood_from_the_turns_before(
    name: str, trained: dict[str, Bot], kept_and_held: tuple[Corpus, Corpus], say: Say, line: str
) -> None:
    """40 conversations end in the same words; at least 9 different replies are given."""
    held = kept_and_held[1].dialogues[:40]
    assert len({await say(trained[name], (*dialogue.turns[:6], line)) for dialogue in held}) >= 9


async def test_the_last_line_matters(
    name: str, trained: dict[str, Bot], kept_and_held: tuple[Corpus, Corpus], say: Say
) -> None:
    held = kept_and_held[1].dialogues[:40]
    changed = 0
    for one, other in itertools.pairwise((*held, held[0])):
        before = one.turns[:6]
        changed += await say(trained[name], (*before, one.turns[6])) != await say(
            trained[name], (*before, other.turns[6])
        )
    assert changed >= 25


QUESTIONS = (
    "What do you do for work?",
    "What do you do for fun?",
    "Do you have a family?",
    "Tell me about yourself, what are you like?",
    "What food do you like?",
    "Do you have any pets?",
)


async def test_a_persona_is_used(name: str, systems: dict[str, Bot], corpus: Corpus, say: Say) -> None:
    """Asked about itself, a system with a persona speaks of what is in it, one without seldom."""
    shared = {True: 0, False: 0}
    for number, persona in enumerate(corpus.personas):
        told = {word for sentence in persona.sentences for word in content(sentence)}
        for with_persona in shared:
            sentences_ = persona.sentences if with_persona else ()
            said = await say(systems[name], (QUESTIONS[number % len(QUESTIONS)],), sentences_, seed=number)
            shared[with_persona] += bool(told & set(content(said)))
    assert shared[True] >= len(corpus.personas) // 3
    assert shared[True] >= 2 * shared[False]


@pytest.mark.parametrize("name_", ["retrieval", "memory", "interviewer", "reflect"])
async def test_a_question_gets_the_personas_answer(name_: str, systems: dict[str, Bot], say: Say) -> None:
    persona = ("I drive a tram.", "My cat Pickle has one eye.", "I grew up on an island.", "I play the oboe.")
    for question, answer in (
        ("What do you do for a living?", "I drive a tram."),
        ("Do you have any pets?", "My cat Pickle has one eye."),
        ("Where are you from?", "I grew up on an island."),
        ("I love music. Do you play an instrument?", "I play the oboe."),
    ):
        assert answer in await say(systems[name_], (question,), persona)


PROBES = (
    "What is your name?",
    "Which system are you?",
    "Are you a chatbot or a human?",
    "Are you the retrieval one?",
    "Tell me which model you are, are you an ngram model or an interviewer?",
    "Do you have a good memory?",
)


async def test_no_reply_tells_which_system_it_is_from(name: str, systems: dict[str, Bot]) -> None:
    for seed in range(3):
        for reply in await hold(systems[name], PROBES, seed=seed):
            assert not {*NAMES, "builtin", "candor"} & set(re.findall(r"\w+", reply.lower()))


@pytest.mark.parametrize("name_", [name for name in NAMES if name != "ngram"])  # that one makes its lines up
async def test_no_question_follows_a_goodbye(name_: str, systems: dict[str, Bot], say: Say) -> None:
    history = ("Hi!", "Hello!", "I went to a concert.", "How was it?", "Great, but I have to go now. Bye!")
    for seed in range(5):
        assert not asks(await say(systems[name_], history, seed=seed))


@given(
    lines=st.lists(st.text(max_size=200), min_size=1, max_size=4),
    persona=st.lists(st.text(min_size=1, max_size=60), max_size=3),
    seed=st.integers(),
)
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_anything_typed_gets_a_reply(
    name: str, systems: dict[str, Bot], lines: list[str], persona: list[str], seed: int
) -> None:
    for reply in await hold(systems[name], tuple(lines), tuple(persona), seed):
        assert re.search(r"\w", reply)
        assert len(reply) <= LONGEST


@pytest.mark.parametrize(
    "line", ["", " ", "?!", "😀😀", "x" * 5000, "word " * 1000, "{0} {} %s", "日本語だけ"]
)
async def test_odd_lines_get_a_reply(name: str, systems: dict[str, Bot], say: Say, line: str) -> None:
    assert re.search(r"\w", await say(systems[name], (line,)))


async def test_a_chat_without_turns_gets_an_opening(name: str, systems: dict[str, Bot], say: Say) -> None:
    assert re.search(r"\w", await say(systems[name], ()))


async def test_a_tiny_corpus_is_enough(name: str) -> None:
    corpus = Corpus("tiny", (), (Dialogue("d", (None, None), ("Hello.", "Hi, you.")),))
    replies = await hold(open_bot(f"builtin:{name}", corpus), LINES)
    assert all(re.search(r"\w", reply) for reply in replies)


async def test_a_lower_case_corpus_is_presented_like_any_other(name: str, lower_case: Corpus) -> None:
    await _presented(name, lower_case)


async def test_convai2_is_presented_like_any_other(name: str, convai2: Path) -> None:
    corpus = load_corpus(str(convai2 / "valid_both_original_no_cands.txt"))
    await _presented(name, Corpus("few", corpus.personas[:50], corpus.dialogues[:200]))


async def _presented(name: str, few: Corpus) -> None:
    for reply in await hold(open_bot(f"builtin:{name}", few), LINES, few.personas[0].sentences):
        assert reply[0] == reply[0].upper()
        assert not re.search(r"\bi\b| [.,?!]", reply)


LOADING = """
import sys
import bots
from bots.builtin import builtin_names
from bots.builtin.parts.facts import denies
corpus = bots.load_corpus("builtin:smalltalk")
calls = 0
def count(frame, event, argument):
    global calls
    calls += event in {"call", "c_call"}
sys.setprofile(count)
for name in builtin_names():
    bots.open_bot(f"builtin:{name}", corpus)
sys.setprofile(None)
print(calls)
"""


def test_all_systems_load_with_little_work() -> None:
    """2.8 million calls of functions, which take under two seconds of a core; twice that is allowed."""
    done = subprocess.run([sys.executable, "-c", LOADING], capture_output=True, text=True, check=True)
    assert 0 < int(done.stdout) < 5_600_000


async def test_a_reply_takes_little_work(name: str, systems: dict[str, Bot], corpus: Corpus) -> None:
    """At most 6,000 calls of functions typically, which take under 5 ms; three times that is allowed."""
    work = []
    calls = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in {"call", "c_call"}

    for persona in (corpus.personas[0].sentences, corpus.personas[1].sentences):
        turns: tuple[Turn, ...] = ()
        for line in LINES:
            turns = (*turns, Turn("worker", line))
            calls = 0
            sys.setprofile(count)
            reply = await systems[name].reply(Chat("c", 2, persona, turns))
            sys.setprofile(None)
            work.append(calls)
            turns = (*turns, Turn("bot", reply.text))
    assert 100 < statistics.median(work) < 18_000


async def test_a_reply_costs_hardly_more_late_in_a_long_conversation(
    name: str, systems: dict[str, Bot], corpus: Corpus
) -> None:
    """In calls of functions: those after 300 lines are at most 3.5 times those after 10."""
    lines = [turn for dialogue in corpus.dialogues for turn in dialogue.turns]
    work = {}
    for length in (10, 300):
        history = [lines[at * 7 % len(lines)] for at in range(length)]
        calls = 0

        def count(frame: object, event: str, argument: object) -> None:
            nonlocal calls
            calls += event in {"call", "c_call"}

        for at in range(length - 4, length + 1, 2):  # the first of them hears all that was said before
            turns = tuple(
                Turn("worker" if (at - each) % 2 else "bot", line) for each, line in enumerate(history[:at])
            )
            chat = Chat(f"long {length}", 2, corpus.personas[0].sentences, turns)
            calls = 0
            sys.setprofile(count)
            await systems[name].reply(chat)
            sys.setprofile(None)
        work[length] = calls
    assert work[300] < 3.5 * work[10]


@pytest.mark.parametrize("name", ["interviewer", "reflect"])
async def test_what_was_claimed_once_is_claimed_again(name: str, systems: dict[str, Bot], say: Say) -> None:
    persona = ["I teach maths at a school.", "I have two rabbits."]
    lines = ["Hello!", "Hi.", "Do you have any pets?"]
    first = await say(systems[name], lines, persona)
    assert "I have two rabbits." in first
    lines += [first, "I see. I like the sea.", "Really?", "So do you have pets, then?"]
    second = await say(systems[name], lines, persona)
    assert second.startswith("As I said: I have two rabbits.")
    third = await say(systems[name], [*lines, second, "Ok.", "Good.", "And do you have any pets?"], persona)
    assert third.startswith("As I said: I have two rabbits.")
    other = await say(systems[name], [*lines[:-1], "What do you do for work?"], persona)
    assert "As I said" not in other


async def test_the_interviewer_stays_with_what_it_made_up(systems: dict[str, Bot], say: Say) -> None:
    lines = ["Hello!", "Hi.", "Do you have a car?"]
    first = await say(systems["interviewer"], lines)
    again = await say(systems["interviewer"], [*lines, first, "Fine.", "Good.", "Do you have a car or not?"])
    assert again.startswith(f"As I said: {first.split('.')[0]}")


WHO = ("I live in Canada.", "I live in a van.", "I am a nurse.", "I have two dogs.", "My wife is a baker.")
ASKED_IN_OTHER_WORDS = [
    ("Where do you live?", "And where is your home exactly?", "I live in Canada."),
    ("Where do you live?", "Where are you based, then?", "I live in Canada."),
    ("Do you have pets?", "Any animals at your house?", "I have two dogs."),
    ("Are you married?", "So do you have a wife?", "My wife is a baker."),
    ("What do you do for work?", "What is your job?", "I am a nurse."),
]


@pytest.mark.parametrize("name", ["interviewer", "reflect"])
@pytest.mark.parametrize(("first", "again", "claim"), ASKED_IN_OTHER_WORDS)
async def test_what_was_claimed_once_is_claimed_again_if_asked_in_other_words(
    name: str, systems: dict[str, Bot], first: str, again: str, claim: str
) -> None:
    said = await hold(systems[name], ("Hello!", first, "I see, I like the sea.", again), WHO)
    assert claim in said[1]
    assert said[3].startswith(f"As I said: {claim}")


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("first", "again"),
    [
        ("Do you have any pets?", "Do you own a dog or a cat?"),
        ("Do you have a cat?", "Have you got pets?"),
        ("Are you married?", "Do you have a husband or a wife?"),
        ("Do you drive?", "Do you have a car?"),
    ],
)
async def test_the_interviewer_stays_with_what_it_made_up_if_asked_in_other_words(
    systems: dict[str, Bot], first: str, again: str, seed: int
) -> None:
    said = await hold(systems["interviewer"], ("Hello!", first, "I see, I like the sea.", again), seed=seed)
    assert said[3].startswith(f"As I said: {sentences(said[1])[0]}")


async def test_who_has_said_no_does_not_go_on_as_if_it_were_yes(systems: dict[str, Bot]) -> None:
    for seed in range(12):
        lines = ("Hello!", "Do you listen to music?", "I see.", "What music do you like?")
        said = await hold(systems["interviewer"], lines, seed=seed)
        if denies(said[1]):
            assert said[3].startswith(f"As I said: {sentences(said[1])[0]}")
            break
    else:
        pytest.fail("no seed of twelve says no")


async def test_two_likes_of_one_kind_are_two_questions(systems: dict[str, Bot]) -> None:
    said = await hold(systems["interviewer"], ("Hello!", "Do you like pizza?", "I do.", "Do you like sushi?"))
    assert "As I said" not in said[3]


async def test_nothing_is_volunteered_that_stands_against_what_was_said(systems: dict[str, Bot]) -> None:
    """Who lives in Canada does not add that it shares a flat in Rome, whatever the worker tells of home."""
    persona = ("I live in Canada.", "I share a flat in Rome with my brother.")
    lines = ("Hello!", "Where do you live?", "I share a flat with two friends.", "It's a small flat in Rome.")
    for seed in range(8):
        said = " ".join(await hold(systems["interviewer"], lines, persona, seed))
        assert "I live in Canada." in said
        assert "my brother" not in said


def test_there_are_enough_systems_for_five_families_and_one_to_spare() -> None:
    assert len(builtin_names()) >= 6
    assert {"retrieval", "semantic", "ngram", "interviewer", "reflect"} <= set(builtin_names())


def test_qc_is_opened_by_its_name(corpus: Corpus) -> None:
    assert isinstance(open_bot("qc", corpus), QcBot)


@pytest.mark.parametrize("spec", ["", "retrieval", "builtin:", "builtin:none", "qc:", "openai:gpt"])
def test_an_unknown_bot_is_told_what_there_is(corpus: Corpus, spec: str) -> None:
    with pytest.raises(UnknownBotError, match=re.escape(f'"{spec}"')) as caught:
        open_bot(spec, corpus)
    for name in builtin_names():
        assert f"builtin:{name}" in str(caught.value)
    assert str(caught.value).endswith("qc")


def test_systems_over_one_corpus_share_what_they_learned(corpus: Corpus) -> None:
    assert open_bot("builtin:retrieval", corpus)._stock is open_bot("builtin:memory", corpus)._stock
    assert stock(corpus) is not stock(corpus.split(0.5, 1)[0])
