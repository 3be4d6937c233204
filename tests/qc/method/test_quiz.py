"""The quiz after conversations: what each worker knew again, and how that goes with the filter."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from qc.method.quiz import QuizResults, describe_quiz
from qc.method.sample import Sample, take_sample
from qc.run import Run
from qc.signature import signature
from tests.qc.support.analyses import awkward_run

CALM = take_sample(awkward_run())


def with_quizzes(rows: list[tuple[int, int, str | None, float]], about: str = "lines") -> Sample:
    quizzes = pd.DataFrame(rows, columns=["conversation", "choices", "why_not", "is_right"])
    return replace(CALM, run=replace(CALM.run, quizzes=quizzes.assign(about=about)))


def held_by(worker: int) -> list[int]:
    """Return the rows of the five conversations of a worker."""
    return np.flatnonzero(CALM.workers == worker).tolist()


def found(rows: list[tuple[int, int, str | None, float]], about: str = "lines") -> QuizResults:
    results = describe_quiz(with_quizzes(rows, about), 100, 0)
    assert results is not None
    return results


def test_a_study_without_a_quiz_has_no_section() -> None:
    assert describe_quiz(replace(CALM, run=replace(CALM.run, quizzes=None)), 100, 0) is None


def test_what_was_asked_answered_and_right() -> None:
    passed = CALM.screening.workers["passed"].to_numpy(bool)
    keen, failed = int(np.flatnonzero(passed)[0]), int(np.flatnonzero(~passed)[0])
    mine, theirs = held_by(keen), held_by(failed)
    results = found(
        [
            *((row, 4, None, 1.0) for row in mine[:4]),
            (mine[4], 4, None, np.nan),  # left without an answer
            *((row, 4, None, 0.0) for row in theirs[:3]),
            (theirs[3], 0, "few_lines", np.nan),
            (theirs[4], 0, "few_replies", np.nan),
        ]
    )
    workers = results.workers.set_index("worker")
    names = CALM.screening.workers["worker"]
    first, second = workers.loc[names[keen]], workers.loc[names[failed]]
    assert first[["asked", "answered", "right", "expected"]].to_list() == [5, 4, 4, 1.0]
    assert first["p"] == pytest.approx(0.25**4)
    assert (first["share"], first["above_chance"]) == (1.0, True)
    assert second[["asked", "answered", "right", "expected"]].to_list() == [3, 3, 0, 0.75]
    assert (second["p"], second["above_chance"]) == (1.0, False)
    # Of four right answers of four: (0.025)^(1/4) = 0.398.
    assert (first["low"], first["high"]) == (pytest.approx(0.398, abs=5e-4), 1.0)
    groups = results.groups.set_index("group")
    # An interval for other workers takes five of them.
    assert groups[["low", "high"]].isna().all(axis=None)
    assert groups.loc["all", ["workers", "asked", "answered", "right"]].to_list() == [2, 8, 7, 4]
    assert groups.loc["passed", ["workers", "right"]].to_list() == [1, 4]
    assert groups.loc["failed", ["workers", "right"]].to_list() == [1, 0]
    agreement = results.agreement.set_index("filter")
    assert agreement.loc["passed"].to_list() == [1, 0]
    assert agreement.loc["failed"].to_list() == [0, 1]
    assert results.not_asked["conversations"].to_list() == [1, 1]


def test_who_was_asked_and_gave_no_answer_is_in_no_cell() -> None:
    row = held_by(0)[0]
    results = found([(row, 4, None, np.nan)])
    assert results.workers["answered"].to_list() == [0]
    assert np.isnan(results.workers["p"]).all()
    assert int(results.agreement[["above", "not_above"]].to_numpy().sum()) == 0
    assert results.groups["workers"].to_list() == [0, 0, 0]


def test_where_nothing_could_be_asked_that_is_counted() -> None:
    results = found([(row, 0, "few_lines", np.nan) for row in held_by(0)])
    assert results.workers.empty
    assert results.groups["asked"].to_list() == [0, 0, 0]
    assert results.not_asked["conversations"].to_list() == [5, 0]


def test_of_personas_it_says_by_system_how_many_knew_them_and_how_many_had_none() -> None:
    first, second, third, *_ = np.unique(CALM.systems).tolist()
    held = {system: np.flatnonzero(CALM.systems == system).tolist() for system in (first, second, third)}
    rows: list[tuple[int, int, str | None, float]] = [
        *((row, 4, None, 1.0) for row in held[first][:3]),
        (held[second][0], 4, None, 0.0),
        (held[second][1], 4, None, np.nan),
        (held[third][0], 0, "no_persona", np.nan),
    ]
    results = found(rows, "personas")
    names = CALM.run.systems["system"]
    assert results.about == "personas"
    systems = results.systems.set_index("system")[["asked", "answered", "right", "expected", "share"]]
    assert systems.loc[names[first]].to_list() == [3, 3, 3, 0.75, 1.0]
    assert systems.loc[names[second]].to_list() == [2, 1, 0, 0.25, 0.0]
    assert len(systems) == 2
    assert results.not_asked.to_numpy().tolist() == [["few_personas", 0], ["no_persona", 1]]


def test_the_filter_and_the_scores_do_not_use_it_and_the_signature_says_that_there_is_one() -> None:
    def signed(run: Run) -> str:
        return signature(run, alpha=0.05, seed=0, bootstrap=100)

    plain = replace(CALM.run, quizzes=None)
    assert "|quiz=sha256:" in signed(CALM.run)
    assert "quiz" not in signed(plain)
    assert CALM.run.quizzes is not None
    assert signed(replace(CALM.run, quizzes=CALM.run.quizzes.assign(about="personas"))) != signed(CALM.run)
    pd.testing.assert_frame_equal(take_sample(plain).screening.workers, CALM.screening.workers)
