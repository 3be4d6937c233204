"""A rule that stops a run once its confidence sequences are narrow."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from qc.errors import OptionError
from qc.judgments import Judgments, read_judgments
from qc.precision import Sequence, StoppingStanding, stopping
from qc.precision.confidence_sequence import FIRST_LOOK, TIGHTEST, asymptotic, bounded
from tests.qc.support.transcripts import add_item_run, item_database, simulated

Judged = Callable[..., Judgments]
ALPHA = 0.05
MEAN = 60.0  # of `slider`: 100 × 3 / 5


@pytest.fixture
def judged(tmp_path: Path) -> Judged:
    """Return a function that gives judgments of one criterion, one from each worker, in their order."""

    def judgments(**systems: NDArray[np.float64]) -> Judgments:
        lines = ["item,system,worker,value"]
        for system, values in systems.items():
            lines += [f"i{n},{system},{system}{n},{value!r}" for n, value in enumerate(values.tolist())]
        path = tmp_path / "judgments.csv"
        path.write_text("\n".join(lines), encoding="utf-8")
        return read_judgments(str(path))

    return judgments


def slider(seed: int, n: int) -> NDArray[np.float64]:
    """Judgments on a scale from 0 to 100, of mean 60 and standard deviation 20."""
    rng = np.random.default_rng(seed)
    return 100 * rng.beta(3, 2, n)


def test_it_is_the_sequence_at_the_last_judgment(judged: Judged) -> None:
    values = slider(1, 120)
    judgments = judged(one=values)
    exact = stopping(judgments, 5, ends=(0, 100)).standings[0]
    expected = bounded(values / 100, ALPHA).scaled(0, 100)
    assert (exact.unit, exact.n) == ("judgments", 120)
    assert exact.centre == pytest.approx(expected.centre[-1])
    assert exact.half_width == pytest.approx(expected.half_width[-1])
    found = stopping(judgments, 5)
    assert found.sequence == "asymptotic"  # a plain CSV does not say where the scale ends
    assert found.standings[0].half_width == pytest.approx(asymptotic(values, ALPHA, TIGHTEST).half_width[-1])


def test_the_widest_of_all_systems_decides(judged: Judged) -> None:
    judgments = judged(many=slider(1, 300), few=slider(2, 60))
    widths = {each.system: each.half_width for each in stopping(judgments, 1).standings}
    assert widths["many"] < widths["few"]
    between, above = (widths["many"] + widths["few"]) / 2, widths["few"] + 0.01
    assert not stopping(judgments, between).reached
    assert stopping(judgments, between).widest.system == "few"
    assert stopping(judgments, above).reached


def test_a_system_without_an_interval_stops_nothing(judged: Judged) -> None:
    judgments = judged(many=slider(1, 300), few=slider(2, FIRST_LOOK - 1))
    found = stopping(judgments, 99, ends=(0, 100))
    assert not found.reached
    assert found.widest.system == "few"
    assert np.isnan(found.widest.half_width)


def test_of_a_worker_who_judged_several_the_mean_is_taken(tmp_path: Path) -> None:
    values = slider(3, 60)
    lines = [f"i{n},one,w{n // 2},{value!r}" for n, value in enumerate(values.tolist())]
    path = tmp_path / "judgments.csv"
    path.write_text("\n".join(["item,system,worker,value", *lines]), encoding="utf-8")
    (standing,) = stopping(read_judgments(str(path)), 5, ends=(0, 100)).standings
    expected = bounded(values.reshape(-1, 2).mean(axis=1) / 100, ALPHA).scaled(0, 100)
    assert (standing.unit, standing.n) == ("workers", 30)
    assert standing.half_width == pytest.approx(expected.half_width[-1])


@pytest.mark.parametrize("sequence", ["exact", "asymptotic"])
def test_the_rule_misses_at_most_alpha(judged: Judged, sequence: Sequence) -> None:
    """Each of 60 systems is a run: looked at after every 40 judgments, stopped at ± 9 or at 240."""
    runs, last, target = 60, 240, 9.0
    judgments = judged(**{f"run{seed}": slider(seed, last) for seed in range(runs)})
    number = judgments.rows["output"].to_numpy() % last
    stopped: dict[str, StoppingStanding] = {}
    for n in range(40, last + 1, 40):
        so_far = replace(judgments, rows=judgments.rows[number < n])
        for each in stopping(so_far, target, sequence=sequence, ends=(0, 100)).standings:
            assert each.n == n
            if each.system not in stopped and (each.half_width <= target or n == last):
                stopped[each.system] = each
    assert len(stopped) == runs
    assert any(each.n < last for each in stopped.values())
    misses = sum(abs(each.centre - MEAN) > each.half_width for each in stopped.values())
    # A rule that misses with probability 0.05 misses in 60 runs more than 9 times once in 1,300.
    assert misses <= 9


def test_a_database_is_read_in_the_order_in_which_workers_handed_in(tmp_path: Path) -> None:
    found = item_database(tmp_path / "candor.db")
    ratings = simulated(np.random.default_rng(1))
    add_item_run(found, ratings)
    # The earlier a worker's name in the alphabet, the later they hand in.
    for minute, worker in enumerate(sorted(ratings["worker"].unique(), reverse=True)):
        ended = f"2025-03-01 11:{minute:02}:00.000000"
        found.execute("UPDATE v1_assignment SET ended_at = ? WHERE worker = ?", ended, worker)
    judgments = read_judgments(str(found.path))
    assert judgments.in_order
    met = list(dict.fromkeys(judgments.rows["worker"].astype(str)))
    assert len(met) > 10
    assert met == sorted(met, reverse=True)


@pytest.mark.published
def test_without_an_order_nothing_is_stopped(published: Path) -> None:
    judgments = read_judgments(str(published / "published" / "free_run1" / "hits_data.json"))
    with pytest.raises(OptionError, match="in which order the judgments came"):
        stopping(judgments, 5)
