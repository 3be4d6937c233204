"""The parts that the builtin systems are made of, each on something small enough to work out by hand."""

import numpy as np
import pytest

from bots import Chat, Turn
from bots.builtin.ngram import END, LanguageModel, tokens
from bots.builtin.parts.exchanges import Associations, Stock, exchanges, fading, stage
from bots.builtin.parts.facts import asked_fact
from bots.builtin.parts.rules import Act, act, mentions, mirrored, script
from bots.builtin.parts.said import freshest, ranked, said_in
from bots.builtin.parts.terms import (
    TOPICS,
    TermSpace,
    along,
    direction,
    normalised,
    principal,
    products,
    shift,
    topics_of,
)
from bots.corpus import Dialogue, Persona
from bots.serving import Corpus


def chat(*lines: str, persona: tuple[str, ...] = (), seed: int = 1) -> Chat:
    """Return a chat of these lines, the last one the worker's."""
    turns = tuple(Turn("worker" if (len(lines) - at) % 2 else "bot", line) for at, line in enumerate(lines))
    return Chat("c", seed, persona, turns)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Hi there!", "greets"),
        ("hello, how are you?", "asks how you are"),
        ("How's it going", "asks how you are"),
        ("I'm good. And you?", "asks back"),
        ("im good hbu", "asks back"),
        ("What about you?", "asks back"),
        ("Do you like jazz?", "asks whether"),
        ("have you been to Rome", "asks whether"),
        ("Where do you live?", "asks what"),
        ("what do you do for fun", "asks what"),
        ("I like what I do.", "tells"),
        ("Ok bye!", "leaves"),
        ("Well, good night", "leaves"),
        ("", "tells"),
    ],
)
def test_act(line: str, expected: Act) -> None:
    assert act(line) == expected


def test_topics() -> None:
    assert topics_of("My dog eats the cat's food")[0] == "pets"
    assert topics_of("What do you do for a living?") == ("work",)
    assert topics_of("Hm.") == ()


def test_every_topic_is_complete() -> None:
    for topic in TOPICS.values():
        assert len(topic.stems) >= 12
        assert len(topic.questions) >= 4
        assert all(question.endswith("?") for question in topic.questions)
        assert set(topic.includes) <= set(TOPICS)


@pytest.mark.parametrize(
    ("said", "returned"),
    [
        ("my dog bit me", "your dog bit you"),
        ("I am fond of you", "you are fond of me"),
        ("I'm sure I was right", "you're sure you were right"),
        ("are you my friend", "are I your friend"),
    ],
)
def test_viewpoint(said: str, returned: str) -> None:
    assert mirrored(said) == returned


@pytest.mark.parametrize("name", ["interviewer", "reflect"])
def test_every_rule_of_a_script_can_fill_its_answers(name: str) -> None:
    for rule in script(name)["rules"]:
        gaps = rule.pattern.groups
        assert len(rule.answers) >= 2
        for answer in rule.answers:
            answer.format(*["x"] * gaps)


def test_rules_take_up_what_was_said() -> None:
    rule = next(rule for rule in script("reflect")["rules"] if "i remember" in rule.pattern.pattern)
    filled = rule.applied("Well, I remember my old school and the garden.")
    assert filled[0] == "Do you often think of your old school?"
    assert rule.applied("I forget.") == []
    assert rule.applied("I remember " + "a very " * 10 + "long story") == []


def test_mentions_bring_back_what_was_named_then_what_was_touched() -> None:
    found = mentions(chat("I love old clocks. My sister too.", "Oh?", "It rained all day.", "Oh.", "Yes."), 9)
    assert found == ["your sister", "old clocks", "the weather", "family"]
    assert "your sister" not in mentions(chat("I love my sister.", "Oh?", "My sister is here."), 9)


PERSONA = ("I repair clocks.", "I have two rabbits.", "I live by the sea.", "...")


@pytest.mark.parametrize(
    ("line", "fact"),
    [
        ("What do you do?", "I repair clocks."),
        ("Do you have pets?", "I have two rabbits."),
        ("I have a cat. What about you?", "I have two rabbits."),
        ("Where do you live?", "I live by the sea."),
        ("Do you speak French?", None),
        ("I live in Rome.", None),
    ],
)
def test_facts(line: str, fact: str | None) -> None:
    assert asked_fact(chat(line, persona=PERSONA)) == fact


def test_a_fact_is_told_once() -> None:
    told = chat("Do you have pets?", "I have two rabbits.", "Do you have any other pets?", persona=PERSONA)
    assert asked_fact(told) is None


def test_what_was_said_is_stale() -> None:
    talk = chat("Hi.", "I like long walks. Do you?", "I like short walks on the beach.")
    assert said_in(talk).staleness("I like long walks.") >= 1
    assert said_in(talk).staleness("Really? I like long walks.") >= 1
    assert said_in(talk).staleness("Which beach is that?") < 1
    assert freshest(["I like long walks.", "Which beach is that?"], talk) == "Which beach is that?"
    assert freshest(["I like long walks.", "I like walks."], talk) == "I like walks."


def test_ranking_is_by_score_with_a_little_chance() -> None:
    lines = [f"line {at}" for at in range(100)]
    scores = np.arange(100.0)
    assert ranked(lines, scores, chat("Hi."), 1e-9)[:2] == ["line 99", "line 98"]
    first = {ranked(lines, scores, chat("Hi.", seed=seed), 2.0)[0] for seed in range(50)}
    assert 3 < len(first) < 20
    assert ranked(lines[:1], scores[:1], chat("Hi."), 1.0) == ["line 0"]


def test_a_bare_line_leaves_weight_to_what_it_answers() -> None:
    full = {text: weight for weight, text in fading(("Do you ski?", "I ski in Norway."))}
    bare = {text: weight for weight, text in fading(("Do you ski?", "Yes."))}
    assert bare["Do you ski?"] > full["Do you ski?"]
    assert fading(()) == []


def test_stages() -> None:
    assert stage(chat("Hi!")) == "opening"
    assert stage(chat("Hi!", "Hello!", "I ski.")) == "middle"
    assert stage(chat("Hi!", "Hello!", "Bye!")) == "closing"


def small() -> Corpus:
    cook, diver = Persona("cook", ("I cook.",)), Persona("diver", ("I dive.",))
    return Corpus(
        "small",
        (cook, diver),
        (
            Dialogue(
                "1", (cook, diver), ("Do you like soup?", "Soup is my life.", "Mine too.", "See you!", "Bye!")
            ),
            Dialogue("2", (diver, cook), ("Do you like fish?", "Fish swim away.", "From me?")),
        ),
    )


def test_exchanges_have_context_persona_and_stage() -> None:
    first, second, *_ = exchanges(small())
    assert (first.context, first.reply) == (("Do you like soup?",), "Soup is my life.")
    assert first.persona == ("I dive.",)
    assert second.context == ("Do you like soup?", "Soup is my life.")
    assert [each.stage for each in exchanges(small())[:4]] == ["opening", "middle", "closing", "closing"]


def test_stock_knows_who_says_what() -> None:
    stock = Stock(small())
    persona_similarity = stock.persona_similarity(("I dive.",))
    assert persona_similarity[0] == pytest.approx(1)  # "Soup is my life." is the diver's, about themselves
    assert persona_similarity[stock.lines.index("Fish swim away.")] == 0  # says nothing about its speaker
    assert stock.contexts.shape == stock.replies.shape == stock.personas.shape


def test_term_vectors_are_cosines() -> None:
    space = TermSpace(["red fish", "blue fish", "blue sky"])
    rows = normalised(space.matrix(["red fish", "fish red", "blue sky", "nothing known"]))
    likeness = products(rows, direction(space.vector([(1.0, "red fish")])))
    # "red fish" occurs once as a pair, so it is no term, and word order makes no difference.
    assert likeness == pytest.approx([1, 1, 0, 0])


def test_latent_directions_are_the_singular_vectors() -> None:
    rng = np.random.default_rng(3)
    lines = [" ".join(rng.choice(list("abcdefghij"), size=6)) for _ in range(30)]
    texts = normalised(TermSpace(lines).matrix(lines))
    found = principal(texts, 4)
    exact = np.linalg.svd(texts.toarray()).Vh[:4].T
    # The same directions, up to sign.
    assert np.abs(found.T @ exact) == pytest.approx(np.eye(4), abs=1e-3)
    assert along(texts.toarray()[0], found) == pytest.approx(texts.toarray()[0] @ found)


def test_shift_learns_a_rotation_and_stays_put_without_evidence() -> None:
    rng = np.random.default_rng(1)
    places = rng.normal(size=(200, 2))
    turn = np.array([[0.0, 1.0], [-1.0, 0.0]])
    assert shift(places, places @ turn, 1e-6) == pytest.approx(turn, abs=1e-6)
    assert shift(places, places @ turn, 1e9) == pytest.approx(np.eye(2), abs=1e-3)


def test_associations_find_which_word_calls_for_which() -> None:
    """As in Brown et al. (1993): "the" goes with everything, so "house" is left for "maison"."""
    pairs = [("la maison", "the house"), ("la fleur", "the flower"), ("la table", "the table")] * 20
    corpus = Corpus("x", (), tuple(Dialogue(str(at), (None, None), pair) for at, pair in enumerate(pairs)))
    model = Associations(corpus)
    called = model.called_for([(1.0, "maison")])
    assert called.sum() == pytest.approx(1)
    assert int(np.argmax(called)) == model.index["hous"]
    assert model.called_for([(1.0, "unheard")]) == pytest.approx(model.frequency)
    evidence = model.evidence([(1.0, "maison")], ("I grow a flower.",))
    assert evidence[model.index["hous"]] > evidence[model.index["tabl"]]
    assert evidence[model.index["flower"]] > evidence[model.index["tabl"]]


def test_language_model_is_a_distribution_after_every_history() -> None:
    lines = ("I like red fish.", "I like tea.", "You like red tea, I think.")
    model = LanguageModel([("<tells>", *tokens(line)) for line in lines])
    for first in range(len(model.words)):
        for second in range(len(model.words)):
            after = model.after(first, second)
            assert after.sum() == pytest.approx(1)
            assert (after[model.spoken > 0] > 0).all()


def test_language_model_by_hand() -> None:
    """Kneser-Ney on "a b", "a b", "a c", each opened by <t>.

    Triples: (start, <t>, a) 3, (<t>, a, b) 2, (<t>, a, c) 1, (a, b, end) 2, (a, c, end) 1; two occur once and
    two twice, so D = 2 / (2 + 2 * 2) = 1/3. Pairs, by the words before them: all once, so D = 1, held to 0.9.
    Single words, by the words before them, and one more for all but start and end:
    end 2, <t> 1, a, b, c 2 each; 9 in all.
    P(b | a) = (1 - 0.9) / 2 + 0.9 * 2/9 = 0.25
    P(b | <t> a) = (2 - 1/3) / 3 + (1/3 * 2 / 3) * 0.25 = 11/18, P(c | <t> a) = (1 - 1/3) / 3 + 1/18 = 5/18
    """
    model = LanguageModel([("<t>", "a", "b"), ("<t>", "a", "b"), ("<t>", "a", "c")])
    opening, a, b, c = (model.index[word] for word in ("<t>", "a", "b", "c"))
    assert model.after(c, a)[b] == pytest.approx(0.25)
    after = model.after(opening, a)
    assert (after[b], after[c]) == pytest.approx((11 / 18, 5 / 18))
    assert set(model.followers(a)) == {b, c}


def test_language_model_writes_words_as_they_stand_inside_sentences() -> None:
    lines = ("Tea is hot.", "I like tea. Is it hot in May?")
    model = LanguageModel([("<tells>", *tokens(line)) for line in lines])
    assert {"tea", "May", "is"} <= set(model.words)
    assert not {"Tea", "may", "Is"} & set(model.words)
    assert model.words[model.encode(("hot",))[-1]] == END
