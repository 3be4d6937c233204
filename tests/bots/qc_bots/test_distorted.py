"""The quality-control bots: the distortion of METHOD.md section 3, nothing twice, and the systems' looks."""

import random
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata

from bots import Chat, Reply, Turn, load_corpus, open_bot
from bots.corpus import Dialogue
from bots.qc_bots import run_length
from bots.qc_bots.distorted import ENOUGH, EarlierReply, FittedQcBot, QcBot, distort, may_have_given
from bots.serving import Corpus, CorpusError
from bots.shown import present

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


OWN = "me-2.1"


class Pool:
    """Replies of the systems to other workers, to which others may be added."""

    def __init__(self, replies: Sequence[EarlierReply] = ()) -> None:
        self.replies = list(replies)


class Fitted:
    """The fitted bot over a pool."""

    def __init__(self, corpus: Corpus, pool: Pool) -> None:
        self._bot = FittedQcBot(corpus)
        self._pool = pool

    async def reply(self, chat: Chat) -> Reply:
        return Reply(self._bot.line(chat, self._pool.replies))


# ---- a polished language model -----------------------------------------------------------------

OPENINGS = [
    "That sounds wonderful!", "I completely understand.", "Oh, what a lovely question!", "Absolutely, yes.",
    "It’s funny you mention that.", "Honestly, I’ve never thought about it that way.", "Great choice!",
]  # fmt: skip
MIDDLES = [
    "I spend most weekends hiking with my sister, who knows every trail in the valley",
    "Cooking has always been my way of relaxing after a long day at the office",
    "My grandmother taught me to play the piano when I was six, and I’ve kept at it ever since",
    "There’s a little bookshop around the corner where I lose track of time",
    "I’m currently learning Portuguese, although the pronunciation is driving me mad",
    "We adopted two cats last winter — they’ve taken over the whole apartment",
    "I work as a nurse, so my schedule changes from week to week",
    "Travelling by train lets me see the countryside and read at the same time",
    "Gardening keeps me busy; the tomatoes did surprisingly well this summer",
]
ENDINGS = [
    "What about you?", "Have you ever tried something like that?", "How did you get started?",
    "I’d love to hear more!", "What do you enjoy most about it?", "It really makes my day.",
]  # fmt: skip


def polished(number: int) -> str:
    rng = random.Random(number)
    parts = [rng.choice(OPENINGS), rng.choice(MIDDLES) + rng.choice(".!"), rng.choice(ENDINGS)]
    return " ".join(parts[rng.randint(0, 1) :])


def polished_pool(conversations: int = 30, start: int = 0) -> list[EarlierReply]:
    return [
        EarlierReply(f"w{c}-1.1", polished(start + 100 * c + line))
        for c in range(conversations)
        for line in range(10)
    ]


def small_talk_in_small_letters() -> Corpus:
    """Lines as PersonaChat has them."""
    rng = random.Random(0)
    subjects = ["my dog", "i", "my mom", "we", "the kids", "my brother"]
    verbs = ["like", "love", "hate", "want", "miss"]
    things = ["pizza", "the beach", "old cars", "country music", "to swim", "red shoes", "my job"]
    tails = ["", " a lot", " , do you ?", " too", " every day", " . how about you ?"]

    def line() -> str:
        return f"{rng.choice(subjects)} {rng.choice(verbs)} {rng.choice(things)}{rng.choice(tails)} ."

    return Corpus(
        "small",
        (),
        tuple(Dialogue(str(n), (None, None), tuple(line() for _ in range(10))) for n in range(60)),
    )


async def converse(
    bot: Fitted, length: int, seed: int = 1, before: Callable[[int], None] = lambda at: None
) -> list[str]:
    turns: tuple[Turn, ...] = ()
    said = []
    for at in range(length):
        before(at)
        turns = (*turns, Turn("worker", f"line {at}"))
        said.append((await bot.reply(Chat(OWN, seed, (), turns))).text)
        turns = (*turns, Turn("bot", said[-1]))
    return said


# ---- what is drawn ---------------------------------------------------------------------------


def one_run_replaced(source: Sequence[str], words: Sequence[str]) -> bool:
    """Return whether `words` are those of `source` but for one run, of the length that is replaced."""
    changed = [
        at for at, (a, b) in enumerate(zip(source, words, strict=True)) if a.casefold() != b.casefold()
    ]
    return not changed or changed[-1] - changed[0] < run_length(len(source))


def sources_of(line: str, replies: Sequence[EarlierReply]) -> list[EarlierReply]:
    """Return the replies, of words without marks, that `line` can have been made from, the whole of it."""
    words = line.split()
    return [
        reply
        for reply in replies
        if len(reply.text.split()) == len(words) and one_run_replaced(reply.text.split(), words)
    ]


async def test_every_line_is_a_systems_reply_with_one_run_of_words_of_another_conversation() -> None:
    pool = [
        EarlierReply(f"{name}-1.1", " ".join(f"{name}{number}n{at}" for at in range(length)) + ".")
        for name in "abcdefg"
        for number, length in enumerate([1, 2, 3, 5, 7, 8, 9, 15, 16, 29, 30, 44])
    ]
    assert len(pool) >= ENOUGH
    bot = Fitted(small_talk_in_small_letters(), Pool(pool))
    lengths = set()
    for seed in range(60):
        for line in await converse(bot, 8, seed):
            words = line.lower().removesuffix(".").split()
            stems = [word[: word.index("n")] for word in words]
            taken = [at for at, stem in enumerate(stems) if stem != stems[-1 if len(words) > 2 else 0]]
            lengths.add(len(words))
            if len(words) >= 3:
                assert stems[0] == stems[-1]
                assert len(taken) == run_length(len(words))
                assert taken == list(range(taken[0], taken[-1] + 1))
                assert {stems[at][0] for at in taken} - {stems[0][0]}, (
                    "the words come from another conversation"
                )
                assert len({stems[at][0] for at in taken}) == 1
    assert lengths >= {2, 3, 5, 7, 8, 9, 15, 16, 29, 30, 44}


async def test_no_source_serves_twice_in_a_conversation() -> None:
    pool = [
        EarlierReply(f"w{n % 9}-1.1", " ".join(f"r{n}x{at}" for at in range(6 + n % 9))) for n in range(60)
    ]
    bot = Fitted(small_talk_in_small_letters(), Pool(pool))
    for seed in range(20):
        said = await converse(bot, 25, seed)
        sources = [source for line in said for source in sources_of(line, pool)]
        assert len(sources) == 25
        assert len(set(sources)) == 25


async def test_no_source_serves_twice_though_replies_come_in_while_it_talks() -> None:
    replies = [
        EarlierReply(f"w{n % 9}-1.1", " ".join(f"r{n}x{at}" for at in range(6 + n % 9))) for n in range(200)
    ]
    for seed in range(10):
        pool = Pool()
        bot = Fitted(small_talk_in_small_letters(), pool)

        def grow(at: int, pool: Pool = pool) -> None:
            pool.replies = replies[: [0, 0, 3, 20, 60, 61, 90, 150, 200][min(at, 8)]]

        said = await converse(bot, 20, seed, grow)
        assert len(set(said)) == 20
        sources = [source for line in said for source in sources_of(line, replies)]
        assert len(sources) == len(set(sources)) == 16  # the first four are the corpus's


async def test_a_restart_changes_nothing() -> None:
    corpus, pool = small_talk_in_small_letters(), polished_pool()
    assert await converse(Fitted(corpus, Pool(pool)), 10, 7) == await converse(
        Fitted(corpus, Pool(pool[::-1])), 10, 7
    )


async def test_conversations_are_told_different_things() -> None:
    bot = Fitted(small_talk_in_small_letters(), Pool(polished_pool()))
    assert len({(await converse(bot, 1, seed))[0] for seed in range(40)}) > 30


async def test_fitted_replies_do_not_depend_on_what_is_said() -> None:
    bot = Fitted(small_talk_in_small_letters(), Pool(polished_pool()))
    one = await bot.reply(Chat(OWN, 5, (), (Turn("worker", "Hi!"),)))
    other = await bot.reply(Chat(OWN, 5, ("I play the piano.",), (Turn("worker", "Do you like jazz?"),)))
    assert one == other


async def test_every_line_differs_from_whatever_a_system_said() -> None:
    pool = polished_pool()
    texts = {reply.text for reply in pool}
    said = [
        line for seed in range(30) for line in await converse(Fitted(two_dialogues(), Pool(pool)), 10, seed)
    ]
    assert not texts & set(said)


def two_dialogues() -> Corpus:
    return Corpus(
        "tiny",
        (),
        (Dialogue("a", (None, None), ("a b", "c d e")), Dialogue("b", (None, None), ("f g", "h i j k"))),
    )


async def test_where_systems_have_said_nothing_lines_are_the_published_ones(corpus: Corpus) -> None:
    bot = Fitted(corpus, Pool())
    responses = [present(turn).split() for dialogue in corpus.dialogues for turn in dialogue.turns[1:]]
    for line in await converse(bot, 12, 3):
        words = line.split()
        assert any(len(r) == len(words) and one_run_replaced(r, words) for r in responses), line
    # The first line of a conversation is the very one.
    chat = Chat(OWN, 3, (), (Turn("worker", "Hi."),))
    assert await bot.reply(chat) == await open_bot("qc", corpus).reply(chat)


async def test_when_every_reply_has_served_the_corpus_goes_on() -> None:
    pool = [EarlierReply(f"w{n % 2}-1.1", f"same words here and there {n}") for n in range(ENOUGH)]
    said = await converse(Fitted(small_talk_in_small_letters(), Pool(pool)), 6)
    assert len(set(said)) == 6


@pytest.mark.parametrize(
    "texts",
    [
        ["…"] * 60,
        ["😀 😀"] * 60,
        ["Yes."] * 60,
        ["x" * 5_000] * 60,
        [" ".join(["word"] * 3_000)] * 60,
        ["\u017f ß İ \ufb01"] * 60,
        ["line\nafter\nline"] * 60,
    ],
)
async def test_odd_replies_are_survived(texts: list[str]) -> None:
    for conversations in (1, 2, 60):
        pool = [EarlierReply(f"w{n % conversations}-1.1", text) for n, text in enumerate(texts)]
        said = await converse(Fitted(small_talk_in_small_letters(), Pool(pool)), 4)
        assert all(said)


def test_a_corpus_that_cannot_be_distorted_is_refused() -> None:
    with pytest.raises(CorpusError, match="no second dialogue"):
        Fitted(Corpus("alone", (), (Dialogue("a", (None, None), ("a b", "c d")),)), Pool())


# ---- looks -----------------------------------------------------------------------------------


def features(line: str) -> list[float]:
    """What a worker might go by without reading: case, marks, length."""
    letters = max(1, sum(mark.isalpha() for mark in line))
    return [
        len(line.split()),
        len(line),
        line[:1].isupper(),
        sum(mark.isupper() for mark in line) / letters,
        *(line.count(mark) for mark in ",.!?’'—;"),
        sum(not mark.isalnum() and not mark.isspace() for mark in line) / len(line),
        line[-1] in ".!?",
        " i " in f" {line} ",
        len(line) / max(1, len(line.split())),
    ]


def told_apart(ours: Sequence[str], theirs: Sequence[str]) -> float:
    """Return the AUC, on lines it has not seen, of a linear classifier on the features."""
    x = np.array([[1.0, *features(line)] for line in (*ours, *theirs)])
    y = np.array([1.0] * len(ours) + [0.0] * len(theirs))
    order = np.random.default_rng(0).permutation(len(y))
    seen, unseen = order[::2], order[1::2]
    weights, *_ = np.linalg.lstsq(x[seen], y[seen], rcond=None)
    ranks = rankdata(x[unseen] @ weights)
    own = y[unseen] == 1.0
    n, rest = int(own.sum()), int((~own).sum())
    return float((ranks[own].sum() - n * (n + 1) / 2) / (n * rest))


async def lines_of(bot: Fitted, conversations: int = 60) -> list[str]:
    return [line for seed in range(conversations) for line in await converse(bot, 10, seed)]


async def published(corpus: Corpus) -> list[str]:
    bot = open_bot("qc", corpus)
    return [(await bot.reply(Chat(OWN, seed, (), ()))).text for seed in range(600)]


FRESH = [polished(10_000 + number) for number in range(600)]  # what the systems tell this worker


@pytest.mark.parametrize("which", ["shipped", "small letters"])
async def test_looks_tell_the_fitted_bot_from_no_system_and_give_the_published_one_away(
    which: str, corpus: Corpus
) -> None:
    learned = corpus if which == "shipped" else small_talk_in_small_letters()
    # The standard error of an AUC of 300 lines against 300 is at most sqrt(1 / (6 * 300)) = 0.024.
    assert told_apart(await published(learned), FRESH) > 0.9
    fitted = told_apart(await lines_of(Fitted(learned, Pool(polished_pool()))), FRESH)
    assert fitted < 0.6, fitted


async def test_systems_in_small_letters_are_fitted_as_well(corpus: Corpus) -> None:
    pool = [EarlierReply(r.conversation_id, r.text.lower().replace("!", "")) for r in polished_pool()]
    fresh = [line.lower().replace("!", "") for line in FRESH]
    assert told_apart(await published(corpus), fresh) > 0.9
    assert told_apart(await lines_of(Fitted(corpus, Pool(pool))), fresh) < 0.6


async def test_before_there_are_enough_replies_lines_are_the_published_ones(corpus: Corpus) -> None:
    few = Pool(polished_pool(conversations=5)[: ENOUGH - 1])
    published = open_bot("qc", corpus)
    turns: tuple[Turn, ...] = ()
    for line in await converse(Fitted(corpus, few), 10, 3):
        turns = (*turns, Turn("worker", f"line {len(turns) // 2}"))
        assert line == (await published.reply(Chat(OWN, 3, (), turns))).text
        turns = (*turns, Turn("bot", line))
    assert await converse(Fitted(corpus, Pool(polished_pool(5))), 1, 3) != await converse(
        Fitted(corpus, few), 1, 3
    )
