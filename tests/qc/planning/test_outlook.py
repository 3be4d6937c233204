"""Tests of predictions from a rehearsal, against numbers worked out by hand."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from qc.errors import EmptyRunError
from qc.method.sample import take_sample
from qc.planning.outlook import CURVE_POINTS, FEW_PASSED, PUBLISHED_MINUTES, Plan, app, outlook
from qc.run import REHEARSAL_NOTE, Run
from tests.qc.support.database import Database
from tests.qc.support.runs import QC, run_of

PLAN = Plan(workers=100, conversations=4, inputs=5, pay=2.0, fee=0.25)


def rehearsed(workers: int, better: float) -> Run:
    """Every worker meets both systems and the qc bot twice; `good` is better by so many points."""
    rng = np.random.default_rng(7)
    met = ["good", QC, "other", QC]
    latent = np.array([50 + better, 5.0, 50.0, 5.0])[None, :, None]
    values = latent + rng.normal(0, 15, (workers, 4, 1)) + rng.normal(0, 10, (workers, 4, 5))
    names = [f"w{number:03}" for number in range(workers) for _ in met]
    ratings = np.clip(np.rint(values), 0, 100).reshape(-1, 5)
    return run_of(names, met * workers, ratings, [1, 2, 3, 4] * workers)


def test_minutes_and_cost_are_in_proportion() -> None:
    found = outlook(rehearsed(30, 10), PLAN)
    assert found.minutes == pytest.approx(4 * PUBLISHED_MINUTES * 5 / 10)
    assert found.cost == 100 * 2.0 * 1.25
    assert [chance.workers for chance in found.chances] == [50, 100, 200, 400]
    assert [chance.cost for chance in found.chances] == [125, 250, 500, 1000]
    assert outlook(rehearsed(30, 10), replace(PLAN, pay=None)).cost is None


def test_four_times_the_workers_halve_the_intervals_and_more_find_more() -> None:
    found = outlook(rehearsed(30, 6), PLAN)
    half, planned, _, four_times = found.chances
    assert four_times.half_width == pytest.approx(planned.half_width / 2)
    assert half.apart < planned.apart < four_times.apart
    assert planned.apart == found.apart
    assert planned.half_width == max(score.half_width for score in found.scores)


def test_the_curve_rises_and_spans_the_planned_and_the_needed_number() -> None:
    found = outlook(rehearsed(30, 6), PLAN)
    assert found.needed is not None
    numbers = [point.workers for point in found.curve]
    assert numbers == sorted(set(numbers))
    assert (numbers[0], len(numbers) <= CURVE_POINTS) == (2, True)
    assert numbers[-1] >= max(2 * PLAN.workers, found.needed)
    chances = [point.apart for point in found.curve]
    assert chances == sorted(chances)
    # The curve passes through the forecast for the planned number.
    below = max(point.apart for point in found.curve if point.workers <= PLAN.workers)
    above = min(point.apart for point in found.curve if point.workers >= PLAN.workers)
    assert below <= found.apart <= above
    # A plan of few workers has no number twice.
    few = outlook(rehearsed(30, 60), replace(PLAN, workers=3))
    assert [point.workers for point in few.curve][:3] == [2, 3, 4]


def test_a_larger_difference_takes_fewer_workers() -> None:
    near, far = outlook(rehearsed(40, 5), PLAN), outlook(rehearsed(40, 25), PLAN)
    assert (far.first, far.second) == ("good", "other")
    assert near.needed is None or far.needed is not None
    assert far.needed is not None
    assert near.needed is None or far.needed < near.needed
    assert far.apart > 0.99


def test_as_many_workers_again_would_have_intervals_like_the_rehearsal() -> None:
    """The interval of as many workers as were rehearsed is that of the mean of their z, 1.96 sd / √P."""
    run = rehearsed(60, 10)
    found = outlook(run, replace(PLAN, workers=60))

    sample = take_sample(run)
    for score in found.scores:
        code = run.systems["system"].to_list().index(score.system)
        values = sample.overall["z"][sample.counted & (sample.systems == code)]
        expected = 1.96 * values.std(ddof=1) / np.sqrt(len(values))
        assert score.half_width == pytest.approx(expected, rel=0.05)  # 2,000 draws: within 5 %


def test_too_few_workers_foretell_nothing() -> None:
    with pytest.raises(EmptyRunError, match="Rehearse with more"):
        outlook(rehearsed(3, 20), PLAN)


def test_the_command_says_what_is_assumed(empty_database: Database, tmp_path: Path) -> None:
    empty_database.add_run("r1", "trial")
    for number in range(FEW_PASSED - 2):
        worker = f"w{number}"
        keys = {"run_id": "r1", "assignment_id": worker}
        empty_database.insert(
            "v1_assignment", **keys, worker=worker, simulated=1, status="completed",
            agreed_at="2025-03-01 10:00:00.000000", ended_at="2025-03-01 10:20:00.000000",
        )  # fmt: skip
        for position, (system, value) in enumerate(
            [("alpha", 60 + number), ("qc", 4), ("beta", 40 - number), ("qc", 9)], start=1
        ):
            held = {**keys, "conversation_id": f"{worker}-{position}"}
            empty_database.insert(
                "v1_conversation", **held, position=position, system=system, has_persona=0, persona="",
                status="rated",
            )  # fmt: skip
            for criterion, more in (("robotic", 0), ("fun", 3), ("clear", 7)):
                empty_database.insert("v1_rating", **held, criterion=criterion, value=value + more)
    arguments = [empty_database.url, "--workers", "50", "--conversations", "3", "--inputs", "10"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["cost"] is None
    assert found["assumed"][0] == REHEARSAL_NOTE
    assert f"Only {FEW_PASSED - 2} simulated workers passed" in found["assumed"][-2]
    assert "nothing is said of the cost" in found["assumed"][-1]
