"""Tests of interim results of a run, and of the coverage of its intervals at repeated looks."""

from dataclasses import replace
from typing import cast

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from qc.method.sample import take_sample
from qc.precision.confidence_sequence import FIRST_LOOK, TIGHTEST, asymptotic, worker_stream
from qc.precision.watch import UNDECIDED_NOTE, WAITING_NOTE, running
from qc.run import Run
from tests.qc.support.runs import QC, run_of

SYSTEMS = ("good", "middling", "poor")
LATENT = {"good": 70.0, "middling": 50.0, "poor": 45.0, QC: 5.0}


def drawn(workers: int, seed: int) -> Run:
    """A run in which each worker meets three systems and the qc bot, on four criteria, in order of name.

    Most rate by what a bot deserves, with a bias of their own; one in four rates at random.
    """
    rng = np.random.default_rng(seed)
    met = ["good", QC, "middling", "poor"]
    latent = np.array([LATENT[name] for name in met])
    honest = rng.random(workers) > 0.25
    bias, mood = rng.normal(0, 15, (workers, 1, 1)), rng.normal(0, 15, (workers, 4, 1))
    values = latent[None, :, None] + bias + mood + rng.normal(0, 17, (workers, 4, 4))
    values = np.where(honest[:, None, None], values, rng.uniform(0, 100, values.shape))
    names = [f"w{number:06}" for number in range(workers) for _ in met]
    ratings = np.clip(np.rint(values), 0, 100).reshape(-1, 4)
    run = run_of(names, met * workers, ratings, [1, 2, 3, 4] * workers)
    ended = pd.Series(pd.date_range("2026-01-01", periods=workers, freq="min"))
    return replace(run, ended=ended)


def all_of(run: Run, status: str = "completed") -> NDArray[np.str_]:
    return np.full(len(run.assignments), status)


def first(run: Run, workers: int) -> Run:
    """The run as it was when `workers` had handed in."""
    rows = 4 * workers
    held = run.conversations[:rows]
    return replace(
        run,
        assignments=run.assignments[:workers].assign(
            worker=run.assignments["worker"][:workers].cat.remove_unused_categories()
        ),
        conversations=held.assign(worker=held["worker"].cat.remove_unused_categories()),
        ratings=run.ratings[:rows],
        ended=cast("pd.Series", run.ended)[:workers],
    )


def test_the_interval_is_the_sequence_of_those_who_passed() -> None:
    run = drawn(160, 1)
    sample = take_sample(run)
    found = running(run, all_of(run))
    assert found.passed + found.failed == 160
    assert np.isfinite(found.widest)
    assert found.passed == int(sample.screening.workers["passed"].sum())
    for code, score in enumerate(found.scores):
        values = sample.overall["z"][sample.counted & (sample.systems == code)]
        sequence = asymptotic(values, 0.05, TIGHTEST)
        assert score.raters == score.conversations == len(values) == found.passed
        assert score.z == pytest.approx(values.mean())
        assert score.low == pytest.approx(sequence.centre[-1] - sequence.half_width[-1])
        assert score.high == pytest.approx(sequence.centre[-1] + sequence.half_width[-1])
    assert found.widest == max(score.width for score in found.scores)


def test_a_look_now_is_what_the_sequence_later_says_it_was() -> None:
    """Workers who come later change no earlier look: else the looks would not be one sequence."""
    run = drawn(80, 2)
    sample = take_sample(run)
    for workers in (40, 55, 80):
        then = running(first(run, workers), all_of(run)[:workers])
        values = sample.overall["z"][sample.counted & (sample.systems == 0) & (sample.workers < workers)]
        of_whole = asymptotic(sample.overall["z"][sample.counted & (sample.systems == 0)], 0.05, TIGHTEST)
        assert then.scores[0].width == pytest.approx(2 * of_whole.half_width[len(values) - 1])


def test_workers_come_in_the_order_in_which_they_handed_in() -> None:
    """With an outlier first, the estimated variance differs from that with it last: so does the interval."""
    run = drawn(160, 3)
    turned = replace(run, ended=cast("pd.Series", run.ended)[::-1].reset_index(drop=True))
    sample = take_sample(run)
    rows = np.flatnonzero(sample.counted & (sample.systems == 0))
    backwards = asymptotic(sample.overall["z"][rows[::-1]], 0.05, TIGHTEST)
    found = running(turned, all_of(run)).scores[0]
    assert found.low == pytest.approx(backwards.centre[-1] - backwards.half_width[-1])


def test_who_is_under_way_has_a_p_and_is_in_no_score() -> None:
    run = drawn(60, 4)
    status = all_of(run)
    status[:10], status[10:13] = "active", "returned"
    found = running(run, status)
    assert found.undecided == 10
    assert found.passed + found.failed == 47
    assert len(found.workers) == 60
    assert all(0 <= worker.p <= 1 and worker.conversations == 4 for worker in found.workers)
    assert {score.conversations for score in found.scores} == {found.passed}
    assert UNDECIDED_NOTE in found.notes


def test_few_workers_have_no_interval_yet() -> None:
    run = drawn(FIRST_LOOK - 1, 5)
    found = running(run, all_of(run))
    assert WAITING_NOTE in found.notes
    assert np.isnan(found.widest)
    assert all(np.isfinite(score.z) and np.isnan(score.low) for score in found.scores)


def test_before_anybody_can_be_tested() -> None:
    run = run_of(["w1"], ["good"], [[50.0, 60.0]], [1], more_systems=["poor"])
    run = replace(run, ended=pd.Series([pd.NaT], dtype="datetime64[ns]"))
    found = running(run, all_of(run, "active"))
    assert (found.passed, found.failed, found.undecided) == (0, 0, 1)
    assert [score.system for score in found.scores] == ["good", "poor"]
    assert np.isnan(found.workers[0].p)


def test_the_sequences_hold_at_every_look_at_once() -> None:
    """500 runs of 60 workers, each looked at after every worker: at most 5 % may ever miss, by the method.

    Whether a worker passes, and their z, depend on nobody else: so one large run, cut into 500, is as good as
    500, and its own means are the truth (their standard errors are a hundredth of an interval's width).
    """
    runs, workers = 500, 60
    sample = take_sample(drawn(runs * workers, 6))
    for code, system in enumerate(SYSTEMS):
        rows = np.flatnonzero(sample.counted & (sample.systems == code))
        values, owners = sample.overall["z"][rows], sample.workers[rows]
        truth = values.mean()
        missed = 0
        for number in range(runs):
            own = owners // workers == number
            sequence = asymptotic(worker_stream(values[own], owners[own]), 0.05, TIGHTEST)
            missed += bool((np.abs(sequence.centre - truth) > sequence.half_width).any())
        assert missed <= 0.05 * runs, f"{system}: {missed} of {runs} missed at some look"
