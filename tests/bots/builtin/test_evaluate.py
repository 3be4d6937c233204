"""Picking the true next line out of twenty."""

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import typer
from scipy import stats
from typer.testing import CliRunner

from bots import Bot, Chat, Reply, open_bot
from bots.builtin import bot_specs
from bots.builtin.evaluate import (
    CANDIDATES,
    Accuracy,
    Case,
    Ranker,
    Row,
    accuracy,
    cases,
    evaluated,
    hits,
    likeness,
    main,
    table,
)
from bots.corpus import Dialogue, Persona
from bots.serving import Corpus

DOCS = Path(__file__).parents[3] / "docs" / "explanation" / "builtin-bots.md"


@pytest.fixture(scope="module")
def split(corpus: Corpus) -> tuple[Corpus, Corpus]:
    """The split of `python -m bots.builtin.evaluate` as it runs by default."""
    return corpus.split(0.2, seed=1)


@pytest.fixture(scope="module")
def tried(split: tuple[Corpus, Corpus]) -> list[Case]:
    return cases(split[1], seed=1)


@pytest.fixture(scope="module")
def rows(split: tuple[Corpus, Corpus], tried: list[Case]) -> dict[str, Row]:
    """What is found about every bot."""
    return {spec: evaluated(spec, split[0], tried, seed=1) for spec in bot_specs()}


def test_every_turn_but_the_first_is_a_case(split: tuple[Corpus, Corpus], tried: list[Case]) -> None:
    held = {dialogue.id: dialogue for dialogue in split[1].dialogues}
    assert len(tried) == sum(len(dialogue.turns) - 1 for dialogue in held.values())
    for case in tried:
        dialogue = held[case.chat.conversation_id]
        at = len(case.chat.turns)
        assert case.candidates[case.truth] == dialogue.turns[at]
        assert tuple(turn.text for turn in case.chat.turns) == dialogue.turns[:at]
        assert case.chat.turns[-1].author == "worker"
        assert case.chat.persona == dialogue.speaker(at).sentences


def test_the_other_candidates_are_turns_of_other_held_out_dialogues(
    split: tuple[Corpus, Corpus], tried: list[Case]
) -> None:
    for case in tried:
        own = case.chat.conversation_id
        others = {turn for dialogue in split[1].dialogues if dialogue.id != own for turn in dialogue.turns}
        wrong = [line for at, line in enumerate(case.candidates) if at != case.truth]
        assert len(case.candidates) == len(set(case.candidates)) == CANDIDATES
        assert set(wrong) <= others


def test_the_truth_stands_anywhere(tried: list[Case]) -> None:
    places = np.bincount([case.truth for case in tried], minlength=CANDIDATES)
    assert stats.chisquare(places).pvalue > 0.001


def test_too_few_dialogues_are_refused() -> None:
    short = Dialogue("a", (None, None), ("one", "two"))
    with pytest.raises(ValueError, match="19 are needed"):
        cases(Corpus("x", (), (short, Dialogue("b", (None, None), ("three", "four")))), seed=1)


class Oracle:
    """Rates the line that it was told is true highest."""

    def __init__(self, tried: Sequence[Case]) -> None:
        self._truth = {case.chat.turns: case.candidates[case.truth] for case in tried}

    async def reply(self, chat: Chat) -> Reply:
        return Reply(self._truth[chat.turns])


class RankingOracle(Oracle):
    def scores(self, chat: Chat, candidates: Sequence[str]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        return np.array([float(line == self._truth[chat.turns]) for line in candidates])


@pytest.mark.parametrize("kind", [Oracle, RankingOracle])
async def test_one_who_knows_is_always_right(tried: list[Case], kind: type[Oracle]) -> None:
    bot: Bot = kind(tried)
    assert isinstance(bot, Ranker) == (kind is RankingOracle)
    assert all(await hits(bot, tried, with_persona=False))


def test_likeness_prefers_words_that_carry_meaning() -> None:
    scores = likeness("I have a small dog", ["My dog is small", "I have a big house", "Yes"])
    assert scores[0] > scores[1] > scores[2]


def test_accuracy_and_its_interval() -> None:
    # Two dialogues of two cases; one all right, one all wrong. Drawn again with replacement, the share is 0
    # (a quarter of the draws), 0.5 (half) or 1 (a quarter): the 2.5 % and 97.5 % quantiles are 0 and 1.
    tried = [Case(Chat(name, 1, (), ()), ("a", "b"), 0) for name in ("x", "x", "y", "y")]
    assert accuracy(tried, [True, True, False, False], seed=1) == Accuracy(0.5, 0.0, 1.0, 4)
    # All dialogues alike: nothing to vary.
    assert accuracy(tried, [True, False, True, False], seed=1) == Accuracy(0.5, 0.5, 0.5, 4)


RANKING = ("retrieval", "semantic", "translation", "memory", "ngram")


@pytest.mark.parametrize("name", RANKING)
def test_systems_that_learn_beat_chance_clearly(rows: dict[str, Row], name: str) -> None:
    row = rows[f"builtin:{name}"]
    for found in (row.without, row.with_persona):
        right = round(found.share * found.cases)
        assert stats.binomtest(right, found.cases, 1 / CANDIDATES, "greater").pvalue < 1e-6


@pytest.mark.parametrize("name", RANKING)
def test_a_persona_helps_to_pick(rows: dict[str, Row], name: str) -> None:
    row = rows[f"builtin:{name}"]
    assert row.with_persona.share > row.without.share


async def test_the_qc_bot_picks_by_chance(corpus: Corpus) -> None:
    """Over four splits, about a thousand cases."""
    right = total = 0
    for seed in range(1, 5):
        kept, held = corpus.split(0.2, seed)
        tried = cases(held, seed)
        found = await hits(open_bot("qc", kept), tried, with_persona=False)
        right, total = right + sum(found), total + len(found)
    assert total > 900
    assert stats.binomtest(right, total, 1 / CANDIDATES).pvalue > 0.01


def test_the_table_in_the_docs_is_what_is_found(rows: dict[str, Row]) -> None:
    """To within one case in a hundred, for the last bits of a sum can differ between machines."""
    documented = re.findall(r"^\| (\S+) \| ([\d.]+)% \(.*?\) \| ([\d.]+)% ", DOCS.read_text(), re.MULTILINE)
    first = {spec: (float(without), float(with_)) for spec, without, with_ in documented[: len(rows)]}
    assert set(first) == set(rows)
    for spec, row in rows.items():
        assert first[spec] == pytest.approx((100 * row.without.share, 100 * row.with_persona.share), abs=1)


def test_table() -> None:
    half = Accuracy(0.5, 0.25, 0.75, 4)
    assert table([Row("qc", half, half, 0.25)]).split("\n")[2:] == [
        "| qc | 50.0% (25.0% to 75.0%) | 50.0% (25.0% to 75.0%) | 0.2 |"
    ]


@pytest.fixture
def command() -> typer.Typer:
    app = typer.Typer()
    app.command()(main)
    return app


def test_command(command: typer.Typer) -> None:
    done = CliRunner().invoke(command, ["builtin:reflect", "qc", "--seed", "3"])
    assert done.exit_code == 0
    assert "72 dialogues to learn from, 18 held out" in done.stdout
    assert re.findall(r"^\| (\S+) \|", done.stdout, re.MULTILINE) == ["bot", "builtin:reflect", "qc"]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["builtin:none"], "no bot is called"),
        (["--corpus", "no/such/file"], "no such file"),
        (["--held-out", "2"], "between 0 and 1"),
        (["--held-out", "0.01"], "19 are needed"),
    ],
)
def test_command_says_what_is_wrong(command: typer.Typer, given: list[str], told: str) -> None:
    done = CliRunner().invoke(command, given)
    assert done.exit_code == 1
    assert told in " ".join(done.output.split())


def test_a_corpus_without_personas_can_be_tried(tmp_path: Path, corpus: Corpus) -> None:
    bare = Corpus("bare", (), tuple(Dialogue(d.id, (None, None), d.turns) for d in corpus.dialogues[:20]))
    kept, held = bare.split(0.5, 1)
    row = evaluated("builtin:retrieval", kept, cases(held, 1), 1)
    assert row.without.share == row.with_persona.share
    assert Persona not in {type(speaker) for dialogue in bare.dialogues for speaker in dialogue.speakers}
