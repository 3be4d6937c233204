"""Tests of the explanations where no worker could pass the filter, or some could not."""

from dataclasses import replace

import numpy as np
import pytest

from qc.analysis import AnalysisOptions, analyse
from qc.method.filter import nobody_passed, not_judged, screen
from qc.method.sample import oriented
from tests.qc.support.runs import run_of
from tests.qc.support.spoken import spoken_run


def test_where_somebody_passed_there_is_nothing_to_say() -> None:
    run = spoken_run(12)
    assert nobody_passed(run, screen(run, oriented(run))) is None


def test_with_too_few_ratings_it_is_said_that_nobody_could_pass() -> None:
    run = spoken_run(12, ("fun",))
    # Each worker rated three systems and the qc bot, once each: it is the lowest of four in 1 of 4 orders.
    said = nobody_passed(run, screen(run, oriented(run)))
    assert said is not None
    assert "the smallest possible p is 0.25, and α is 0.05" in said


def test_where_somebody_could_have_passed_that_is_not_said() -> None:
    run = spoken_run(12)
    alike = replace(run, ratings=run.ratings * 0 + 50)
    assert nobody_passed(alike, screen(alike, oriented(alike))) == (
        "No worker passed, so no system has a score."
    )


def test_who_rated_too_few_conversations_could_not_pass() -> None:
    # Two assignments of three systems and the QC bot: 1 of C(8, 2) = 28 orders has its two ratings lowest.
    # One assignment: 1 of 4.
    run = run_of(
        ["long"] * 8 + ["short"] * 4,
        ["a", "b", "c", "qc"] * 3,
        np.array([70, 80, 90, 5, 71, 81, 91, 6, 72, 82, 92, 7])[:, None],
        [1, 2, 3, 4] * 3,
    )
    screening = screen(run, oriented(run))
    assert screening.workers["p"].tolist() == pytest.approx([1 / 28, 1 / 4])
    note = not_judged(run, screening)
    assert note is not None
    assert note.startswith("1 worker has rated too few conversations with the quality-control bot to be")
    assert note in analyse(run, AnalysisOptions(sections=frozenset())).notes
    assert not_judged(run, screen(run, oriented(run), alpha=0.3)) is None
    assert not_judged(run, screen(run, oriented(run), alpha=0.01)) is None  # which is said of all together
