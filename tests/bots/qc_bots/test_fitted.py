"""The qc bot that fits the systems: nothing twice, nothing of one's own, and their looks."""

import random
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from scipy.stats import rankdata

from bots import Chat, Corpus, CorpusError, Reply, Turn, open_bot
from bots.corpus import Dialogue
from bots.qc_bots import run_length
from bots.qc_bots.distorted import ENOUGH, EarlierReply, FittedQcBot
from bots.shown.looks import present

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


async def test_replies_do_not_depend_on_what_is_said() -> None:
    bot = Fitted(small_talk_in_small_letters(), Pool(polished_pool()))
    one = await bot.reply(Chat(OWN, 5, (), (Turn("worker", "Hi!"),)))
    other = await bot.reply(Chat(OWN, 5, ("I play the piano.",), (Turn("worker", "Do you like jazz?"),)))
    assert one == other


async def test_every_line_differs_from_whatever_a_system_said() -> None:
    pool = polished_pool()
    texts = {reply.text for reply in pool}
    said = [line for seed in range(30) for line in await converse(Fitted(tiny(), Pool(pool)), 10, seed)]
    assert not texts & set(said)


def tiny() -> Corpus:
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
