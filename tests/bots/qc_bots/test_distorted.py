"""The quality-control bot: the distortion of METHOD.md section 3, and no response twice."""

import random
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bots import Chat, Corpus, CorpusError, Turn, load_corpus, open_bot
from bots.corpus import Dialogue
from bots.qc_bots import run_length
from bots.qc_bots.distorted import QcBot, distort, may_have_given
from bots.shown.looks import present

# METHOD.md, section 3: words of the response, words replaced. Both ends of every class.
CLASSES = {
    1: 1, 2: 1, 3: 1, 4: 2, 5: 2, 6: 3, 8: 3, 9: 4, 15: 4, 16: 5, 29: 5,
    30: 6, 34: 6, 35: 7, 39: 7, 40: 8, 101: 20,
}  # fmt: skip


@pytest.mark.parametrize(("words", "replaced"), CLASSES.items())
def test_run_length(words: int, replaced: int) -> None:
    assert run_length(words) == replaced


@pytest.mark.parametrize("words", [0, -1])
def test_run_length_needs_a_word(words: int) -> None:
    with pytest.raises(ValueError, match="at least one word"):
        run_length(words)


def numbered(prefix: str, count: int) -> list[str]:
    return [f"{prefix}{at}" for at in range(count)]


@given(count=st.integers(1, 120), spare=st.integers(0, 60), seed=st.integers())
def test_distortion_replaces_one_run_by_one_of_the_same_length(count: int, spare: int, seed: int) -> None:
    response, donor = numbered("r", count), numbered("d", run_length(count) + spare)
    changed = distort(response, donor, random.Random(seed))
    assert len(changed) == count
    replaced = [at for at in range(count) if changed[at] != response[at]]
    assert len(replaced) == run_length(count)
    assert replaced == list(range(replaced[0], replaced[0] + len(replaced)))
    run = [changed[at] for at in replaced]
    first = donor.index(run[0])
    assert run == donor[first : first + len(run)]
    if count >= 3:
        assert (changed[0], changed[-1]) == (response[0], response[-1])


@pytest.mark.parametrize("count", CLASSES)
def test_every_position_is_drawn(count: int) -> None:
    response, donor = numbered("r", count), numbered("d", 200)
    drawn = Counter(
        next(at for at, word in enumerate(distort(response, donor, random.Random(seed))) if word[0] == "d")
        for seed in range(4000)
    )
    kept = 1 if count >= 3 else 0
    assert set(drawn) == set(range(kept, count - kept - run_length(count) + 1))


def test_three_words_lose_the_middle_one() -> None:
    assert distort(["a", "b", "c"], ["x"], random.Random(0)) == ["a", "x", "c"]


def test_a_donor_must_be_long_enough() -> None:
    with pytest.raises(ValueError, match="donor of 1 words"):
        distort(["a"] * 5, ["x"], random.Random(0))


@given(count=st.integers(1, 60), seed=st.integers())
def test_what_was_made_from_a_source_is_seen_to_be(count: int, seed: int) -> None:
    source = [f"r{at}" for at in range(count)]
    rng = random.Random(seed)
    line = distort(source, [f"d{at}" for at in range(count)], rng)
    assert may_have_given(source, line)
    if count >= 3:
        assert may_have_given(source, ["before", *line, "after", "it"])
        assert not may_have_given([f"s{at}" for at in range(count)], line)


async def conversation(bot: QcBot, length: int, seed: int = 1) -> list[str]:
    turns: tuple[Turn, ...] = ()
    said = []
    for at in range(length):
        turns = (*turns, Turn("worker", f"line {at}"))
        said.append((await bot.reply(Chat("c", seed, (), turns))).text)
        turns = (*turns, Turn("bot", said[-1]))
    return said


def tiny() -> Corpus:
    """Three dialogues whose words all tell where they come from; 6 responses, one of them said twice."""
    return Corpus(
        "tiny",
        (),
        (
            Dialogue("a", (None, None), ("a0 a1", "a2 a3 a4", "a5 a6 a7 a8", "Same words here.")),
            Dialogue("b", (None, None), ("b0 b1 b2", "b3 b4 b5 b6 b7", "Same words here.")),
            Dialogue("c", (None, None), ("c0", "c1", "c2 c3")),
        ),
    )


async def test_words_come_from_another_dialogue() -> None:
    corpus = Corpus(
        "letters",
        (),
        tuple(
            Dialogue(letter, (None, None), tuple(" ".join(numbered(letter, n)) for n in (3, 2, 4, 7)))
            for letter in "abc"
        ),
    )
    bot = QcBot(corpus)
    for seed in range(100):
        for line in await conversation(bot, 9, seed):
            letters = [word[0].lower() for word in line.split()]
            response, donor = (
                (letters[0], set(letters[1:-1]) - {letters[0]}) if len(letters) > 2 else ("", set(letters))
            )
            assert len(donor) == (1 if response else 2), line


def test_no_response_comes_twice_until_all_have_come() -> None:
    bot = QcBot(tiny())
    # 3 + 2 + 2 responses, of which "Same words here." is one and the same.
    assert len(bot) == 6
    in_new_order = 0
    for seed in range(100):
        drawn = [bot.drawn(seed, given) for given in range(12)]
        assert sorted(drawn[:6]) == sorted(drawn[6:]) == list(range(6))
        in_new_order += drawn[:6] != drawn[6:]
    assert in_new_order > 90  # all but about 1 in 720 are


async def test_a_conversation_longer_than_the_corpus_goes_on() -> None:
    said = await conversation(QcBot(tiny()), 30)
    assert all(said)


async def test_a_whole_conversation_repeats_nothing(corpus: Corpus) -> None:
    bot = QcBot(corpus)
    for seed in range(20):
        said = await conversation(bot, 40, seed)
        assert len(set(said)) == 40


async def test_every_reply_differs_from_its_response(corpus: Corpus) -> None:
    originals = {present(turn) for dialogue in corpus.dialogues for turn in dialogue.turns}
    said = [line for seed in range(20) for line in await conversation(QcBot(corpus), 20, seed)]
    assert not originals & set(said)


async def test_replies_do_not_depend_on_what_is_said(corpus: Corpus) -> None:
    bot = QcBot(corpus)
    one = await bot.reply(Chat("c", 5, (), (Turn("worker", "Hi!"),)))
    other = await bot.reply(Chat("c", 5, ("I play the piano.",), (Turn("worker", "Do you like jazz?"),)))
    assert one == other


async def test_conversations_go_in_different_orders(corpus: Corpus) -> None:
    bot = QcBot(corpus)
    assert len({(await conversation(bot, 1, seed))[0] for seed in range(50)}) > 40


async def test_the_same_call_gives_the_same_reply_anywhere(corpus: Corpus) -> None:
    assert await conversation(QcBot(corpus), 10, 7) == await conversation(QcBot(corpus), 10, 7)


@pytest.mark.parametrize("seed", [0, -3, 2**200])
async def test_any_whole_number_is_a_seed(corpus: Corpus, seed: int) -> None:
    assert len(await conversation(QcBot(corpus), 3, seed)) == 3


async def test_a_seed_gives_the_lines_that_it_always_gave() -> None:
    # Of the release before there was any other way to draw: a run under way must not change its qc bot.
    lines = ["A5 c1 c2 a8", "Same b2 here.", "B3 Same words b6 b7", "A2 c3 a4", "Same", "C2 here."]
    assert await conversation(QcBot(tiny()), 6, 7) == lines


def test_one_dialogue_is_not_enough() -> None:
    alone = Corpus("alone", (), tiny().dialogues[:1])
    with pytest.raises(CorpusError, match="no second dialogue"):
        open_bot("qc", alone)


def test_a_response_too_long_for_any_donor_is_left_out() -> None:
    long = Dialogue("long", (None, None), ("hello", "w " * 100, "fine"))
    bot = QcBot(Corpus("x", (), (long, Dialogue("short", (None, None), ("a b c", "d e")))))
    assert sorted(bot.responses) == ["d e", "fine"]


async def test_on_a_whole_corpus(lower_case: Corpus) -> None:
    await _presented(QcBot(lower_case))


async def test_on_convai2(convai2: Path) -> None:
    await _presented(QcBot(load_corpus(str(convai2 / "valid_self_original_no_cands.txt"))))


async def _presented(bot: QcBot) -> None:
    for seed in range(3):
        said = await conversation(bot, 30, seed)
        assert len(set(said)) == 30
        assert all(line[0] == line[0].upper() and " ," not in line for line in said)
