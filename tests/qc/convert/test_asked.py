"""Answers, ratings of single replies, quizzes and scenarios: what a published format says of them."""

import stat
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from qc.convert import losses, save
from qc.loading.frames import (
    QUESTION_COLUMNS,
    typed_answers,
    typed_quizzes,
    typed_turn_ratings,
    typed_writing,
)
from qc.run import WRITING_NUMBERS, Answers, Run
from tests.qc.support.spoken import spoken_run


def asked_run() -> Run:
    """Return a run in which all was asked: before all conversations, and after each, a number and choices."""
    run = spoken_run(8)
    held = run.conversations
    questions = pd.DataFrame(
        [
            ("before", "often", "choice", "How often?", ("Never", "Daily"), 0),
            ("conversation", "human", "likert", "Was it human?", (), 5),
        ],
        columns=QUESTION_COLUMNS,
    )
    before = pd.DataFrame({"assignment": run.assignments["assignment"], "part": "before", "label": "often"})
    about = (
        held[["assignment", "conversation"]]
        .astype(str)
        .assign(part="conversation", label="human", number=4.0)
    )
    given = pd.concat([before.assign(text="Daily", conversation=None), about.assign(text=None)])
    asked = Answers(questions, given)
    return replace(
        run,
        words=None,
        answers=typed_answers(asked, run.assignments, held, np.arange(len(held))),
        scenarios=pd.Series(pd.Categorical(["shop", None] * (len(held) // 2)), name="scenario"),
        writing=typed_writing(
            pd.DataFrame(
                {
                    "conversation": [3, 1],
                    **{name: [number, 2**40] for number, name in enumerate(WRITING_NUMBERS)},
                }
            ),
            np.arange(len(held)),
        ),
        quizzes=typed_quizzes(
            pd.DataFrame(
                {
                    "conversation": [0, 1, 2, 4],
                    "choices": [4, 4, 0, 4],
                    "why_not": [None, None, "few_lines", None],
                    "is_right": [1.0, 0.0, np.nan, np.nan],
                    "about": "lines",
                }
            ),
            np.arange(len(held)),
        ),
        turn_ratings=typed_turn_ratings(
            pd.DataFrame({"conversation": range(0, len(held), 2), "turn": 1, "value": 100.0}),
            np.arange(len(held)),
        ),
    )


def test_only_you_can_read_what_is_converted(tmp_path: Path) -> None:
    save(asked_run(), tmp_path / "run.json", "hits")
    assert stat.S_IMODE((tmp_path / "run.json").stat().st_mode) == 0o600


def test_the_published_format_says_what_it_cannot_hold() -> None:
    run = asked_run()
    assert run.answers is not None
    lost = {loss.what: loss.count for loss in losses(run, "hits")}
    assert lost["ratings of single replies"] == len(run.conversations) // 2
    assert lost["quizzes after conversations"] == 4
    assert lost["conversations of which it is known how they were written"] == 2
    assert lost["scenarios of conversations"] == len(run.conversations) // 2
    assert lost["answers to the study's own questions"] == len(run.answers.given)
