"""Analyses to report on: one with everything in it, and names that nobody should use."""

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

from qc.analysis import SECTIONS, Analysis, AnalysisOptions, analyse
from qc.loading import load
from qc.options import Dialogues
from qc.run import CHANGES, OPINIONS, Answers, LeftOut, Run, Words
from tests.qc.support.runs import run_of
from tests.qc.support.transcripts import add_item_run, item_database, simulated

NASTY = "<script>alert('x')</script>"
SYSTEMS = (NASTY, '"quoted", =1+1 & more', "a_system_with_a_name_that_has_no_end_" * 4, "plain")
FIELD = "<u>age"
QUICK = AnalysisOptions(bootstrap=100, reward=1.5)
DIALOGUES = Dialogues("talk.txt", pd.Series(["Hi.", "Hello, you."], dtype="str"), np.array([0, 1]))
MARGINS = {FIELD: {NASTY: 0.3, "=old": 0.7}}


def awkward_run(seed: int = 1, workers: int = 32) -> Run:
    """Return a run of awkwardly named systems in which most workers can tell the qc bot."""
    rng = np.random.default_rng(seed)
    who, what, where, ratings = [], [], [], []
    for worker in range(workers):
        order = list(rng.permutation(len(SYSTEMS)))
        met = [SYSTEMS[order[0]], "qc", *(SYSTEMS[number] for number in order[1:])]
        for position, system in enumerate(met, start=1):
            level = (
                5
                if system == "qc" and worker % 4
                else 40 + 10 * (SYSTEMS.index(system) if system != "qc" else 0)
            )
            who.append(f"{'=' if worker % 2 else '<b>'}w{worker:02}")
            what.append(system)
            where.append(position)
            ratings.append(np.clip(level + rng.normal(0, 8, 4), 0, 100))
    run = run_of(who, what, np.array(ratings), where, seconds=600.0, words=_words(len(who), rng))
    systems = run.systems.assign(
        family=["<i>one</i>", "<i>one</i>", "two", "two", "qc"], has_persona=[True, False, True, False, False]
    )
    left_out = (LeftOut("<u>A</u>", "=1+1", "no answers"),)
    return replace(
        run,
        name="<b>run</b>",
        systems=systems,
        incidents=_incidents(systems),
        served=_served(systems),
        answers=_answers(run.conversations),
        background=_background(run),
        scenarios=pd.Series(pd.Categorical([NASTY, "=shop"] * (len(who) // 2))),
        turn_ratings=_turn_ratings(len(who), rng),
        quizzes=_quizzes(len(who)),
        writing=_writing(len(who)),
        waits=pd.Series(2.0 + np.arange(len(who)) % 5),
        left_out=left_out,
        notes=("a < b & c",),
    )


def _background(run: Run) -> pd.DataFrame:
    """Return a field by which workers are of one of two groups, four by four."""
    workers = run.assignments["worker"].cat.categories
    groups = [NASTY if int(name[-2:]) // 4 % 2 else "=old" for name in workers]
    return pd.DataFrame({"worker": workers, FIELD: groups})


def _answers(conversations: pd.DataFrame) -> Answers:
    """Return answers to a question of each form: one before all conversations, the others after each."""
    forms = [
        ("before", "often", "choice"),
        ("conversation", "human", "likert"),
        ("conversation", "note", "text"),
    ]
    forms += [("conversation", "strain", "slider"), ("conversation", "errors", "span")]
    questions = pd.DataFrame(forms, columns=["part", "label", "kind"])
    questions = questions.assign(
        question=f"{NASTY}?", choices=[("Never", NASTY), (), (), (), ()], points=[0, 5, 0, 0, 0]
    )
    texts = conversations[["assignment", "conversation", "system"]].astype(str)
    first = texts.drop_duplicates("assignment").assign(conversation=None, system=None)
    given = [first.assign(part="before", label="often", text=NASTY, number=np.nan)]
    mark = json.dumps({"line": 1, "start": 0, "end": 4, "category": NASTY})
    for label, text, number in (
        ("human", None, 4.0),
        ("note", "Well.", np.nan),
        ("strain", None, 25.0),
        ("errors", mark, np.nan),
    ):
        given.append(texts.assign(part="conversation", label=label, text=text, number=number))
    return Answers(questions, pd.concat(given, ignore_index=True))


def _turn_ratings(conversations: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return a thumb on the only reply of every second conversation."""
    rated = np.arange(0, conversations, 2, dtype=np.int32)
    values = 100.0 * rng.integers(0, 2, len(rated))
    return pd.DataFrame({"conversation": rated, "turn": np.int32(1), "value": values})


def _quizzes(conversations: int) -> pd.DataFrame:
    """Return quizzes of four lines: right, wrong, left without an answer, not asked, and so on."""
    number = np.arange(conversations)
    asked = number % 4 < 3
    return pd.DataFrame(
        {
            "conversation": number.astype(np.int32),
            "choices": np.where(asked, 4, 0).astype(np.int32),
            "why_not": np.where(asked, None, "few_lines"),
            "is_right": np.select([number % 4 == 0, number % 4 == 1], [1.0, 0.0], np.nan),
            "about": "lines",
        }
    )


def _writing(conversations: int) -> pd.DataFrame:
    """Return ten inputs of each conversation: every seventh pasted, one in eleven empty, all others typed."""
    number = np.arange(conversations)
    pasted, empty = number % 7 == 0, number % 11 == 5
    by_hand = np.where(pasted | empty, 0, 300)
    columns = {
        "inputs": 10,
        "typed": by_hand,
        "composed": by_hand // 10,
        "pasted": np.where(pasted & ~empty, 500, 20),
        "pastes": np.where(pasted, 10, 1),
        "writing_ms": 200 * by_hand,
        "longest_pause_ms": 4_000,
        "away": np.where(pasted, 10, 0),
        "away_ms": np.where(pasted, 60_000, 0),
    }
    numbers = pd.DataFrame(columns, index=number).astype(np.int64)
    return numbers.rename_axis("conversation").reset_index().astype({"conversation": np.int32})


def _incidents(systems: pd.DataFrame) -> pd.DataFrame:
    """Return incidents of which each system has one more than the one before, the first none."""
    number = np.arange(len(systems))
    return pd.DataFrame(
        {
            "system": systems["system"],
            "conversations": 24 + number,
            "failed": number,
            "replies": 240,
            "errors": 2 * number,
            "overran": 10.0 * number,
            "gave_away": number,
            "offensive": number,
            "inputs": 240,
            "offensive_inputs": 2 * number,
            "judged": 240,
            "flagged": number,
            "judged_inputs": 120,
            "flagged_inputs": 3 * number,
            "reported": number,
            "timed_out": 2 * number,
            **dict.fromkeys(("busy", "gone", "refused", "declined", "budget_spent", "broken_off"), 0),
            "empty": number,
            **dict.fromkeys(("thoughts_only", "too_long", "other_errors"), 0),
        }
    )


def _served(systems: pd.DataFrame) -> pd.DataFrame:
    """Return two models behind the first system, whose names are awkward, one behind each other."""
    names = [systems["system"].iloc[0], *systems["system"]]
    number = np.arange(len(names))
    return pd.DataFrame(
        {
            "system": names,
            "model": [f"<b>m{at}</b>" for at in number],
            "revision": "=1+1",
            "prompt_hash": "0123456789abcdef",
            "sampling": '{"temperature": 0.7}',
            "calls": 40 + number,
            "failed": number,
            "replicas": 1,
            "tokens_in": np.where(number == 0, np.nan, 200.0),
            "tokens_out": 12.5,
            "cost": 0.25 * number,
            "queued_ms": 3.0,
            "computed_ms": 250.0,
            "first": "2026-11-01 10:00:00",
            "last": "2026-11-01 12:00:00",
        }
    )


def _words(conversations: int, rng: np.random.Generator) -> Words:
    number = np.arange(conversations, dtype=np.int32)
    first = np.zeros(conversations, dtype=np.int32)
    opinions = pd.Categorical.from_codes(rng.integers(0, 3, conversations), categories=list(OPINIONS))
    kinds = pd.Categorical.from_codes(rng.integers(0, 5, conversations), categories=list(CHANGES))
    said = pd.Series([f"{NASTY} and some words"] * conversations, dtype="str")
    replies = said + pd.Series([" more" * (each % 7) for each in range(conversations)], dtype="str")
    topics = said + pd.Series([(" of dogs", " of music", "")[each % 3] for each in range(conversations)])
    return Words(
        exchanges=pd.DataFrame({"conversation": number, "round": first + 1, "input": said, "reply": replies}),
        topics=pd.DataFrame({"conversation": number, "round": first, "topic": topics, "opinion": opinions}),
        changes=pd.DataFrame(
            {"conversation": number, "round": first + 1, "how": kinds, "bot_opinion": opinions}
        ),
    )


@cache
def whole() -> Analysis:
    """Return an analysis in which no section is missing."""
    return analyse(awkward_run(), replace(QUICK, margins=MARGINS, dialogues=DIALOGUES), awkward_run(seed=2))


@cache
def bare() -> Analysis:
    """Return an analysis in which every section that can be is missing."""
    return analyse(awkward_run(), AnalysisOptions(bootstrap=100, sections=frozenset()))


@cache
def without(section: str) -> Analysis:
    """Return the analysis in which one section is missing."""
    options = AnalysisOptions(
        bootstrap=100, sections=frozenset(SECTIONS) - {section}, margins=MARGINS, dialogues=DIALOGUES
    )
    return analyse(awkward_run(), options, awkward_run(seed=2))


@cache
def rated() -> Analysis:
    """Return an analysis of a run of transcripts in which no section that such a run can have is missing."""
    rng = np.random.default_rng(5)
    first, second = (simulated(rng, names=names) for names in ("a", "b"))
    first["edit_share"] = [0.1 if fluent < 40 else None for fluent in first["fluent"]]
    with TemporaryDirectory() as folder:
        database = item_database(Path(folder) / "rated.db")
        add_item_run(database, first, run_id="first")
        add_item_run(database, second, run_id="second")
        runs = [load(database.path, name) for name in ("first", "second")]
    assert runs[0].items is not None
    lengths = pd.Series(runs[0].items["item"].cat.codes.to_numpy() % 8 + 1.0)
    return analyse(replace(runs[0], reference_words=lengths), QUICK, runs[1])
