"""Tests of the explanation for a run in which no worker passed: whether any worker could have passed."""

from dataclasses import replace

from qc.method.filter import nobody_passed, screen
from qc.method.sample import oriented
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
