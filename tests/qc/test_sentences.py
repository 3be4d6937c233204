"""The verdict in three sentences."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from qc.method.pass_rate import Count
from qc.method.replication import SameConclusions
from qc.run import SIMULATED_NOTE
from qc.verdict.forecast import Forecast
from qc.verdict.intervals import Intervals
from qc.verdict.numerals import between, decimal, listed, percent, probability, ranks, whole
from qc.verdict.sentences import SIMULATED, verdict

NAN = float("nan")


def intervals(systems: tuple[str, ...], *indistinct: tuple[str, str]) -> Intervals:
    count = len(systems)
    low, high = np.full((count, 2), 0.25), np.full((count, 2), 0.75)
    bounds, places = np.zeros((count, count)), np.arange(1, count + 1)
    chance = np.array([0.93, *[0.07 / (count - 1)] * (count - 1)]) if count > 1 else np.ones(1)
    return Intervals(
        0.95, 1000, systems, low, high, low, high, places, places, bounds, bounds, indistinct, chance
    )


def results(*systems: str, notes: tuple[str, ...] = (), **parts: object) -> Any:
    """Return an analysis with those systems, best first, and those parts."""
    z = pd.DataFrame({"system": list(systems), "overall": np.linspace(0.5, -0.5, len(systems))})
    known: dict[str, object] = {
        "intervals": None,
        "forecast": None,
        "replication": None,
        "filter_check": None,
    }
    return SimpleNamespace(
        run=SimpleNamespace(name="one", notes=notes),
        sample=SimpleNamespace(screening=SimpleNamespace(alpha=0.05)),
        rates=SimpleNamespace(workers=Count(70, 100)),
        scores=SimpleNamespace(z=z),
        **{**known, **parts},
    )


def foreseen(low: float, r: float = 0.975) -> Forecast:
    return Forecast(r, low, 0.99, 1000, 0.95, {}, ())


def test_a_leader_with_a_rival() -> None:
    found = verdict(results("a", "b", "c", intervals=intervals(("a", "b", "c"), ("a", "b"))))[0]
    assert found == (
        "a has the highest score (z = 0.50, 95 % interval 0.25 to 0.75) and comes first in 93 % of the "
        "resamples of the workers, but b cannot be told apart from it; of 3 pairs of systems, 1 cannot be "
        "told apart: a from b."
    )


def test_a_leader_without_rivals() -> None:
    found = verdict(results("a", "b", "c", intervals=intervals(("a", "b", "c"), ("b", "c"))))[0]
    assert found.startswith("a leads every other system clearly (z = 0.50")
    assert found.endswith("of 3 pairs of systems, 1 cannot be told apart: b from c.")
    assert "all 3 pairs" in verdict(results("a", "b", "c", intervals=intervals(("a", "b", "c"))))[0]


def test_many_pairs_are_counted_and_not_listed() -> None:
    names = tuple("abcdef")
    pairs = tuple((first, second) for first in names for second in names if first < second)
    found = verdict(results(*names, intervals=intervals(names, *pairs)))[0]
    assert found.endswith("of 15 pairs of systems, 15 cannot be told apart.")


def test_two_systems() -> None:
    open_order = verdict(results("a", "b", intervals=intervals(("a", "b"), ("a", "b"))))[0]
    assert open_order.endswith("with these data the order of the two is open.")


def test_nothing_to_rank() -> None:
    one = verdict(results("a", intervals=intervals(("a",))))[0]
    assert one == "a is the only system with a score, so there is nothing to rank it against."
    nobody = results("a", "b")
    nobody.scores.z["overall"] = NAN
    assert verdict(nobody)[0] == "No worker passed the filter, so nothing can be said about the systems."
    assert "not computed" in verdict(results("a", "b"))[0]


@pytest.mark.parametrize(
    ("low", "expectation"),
    [(0.94, "would very likely agree"), (0.8, "would probably agree"), (0.3, "might well disagree")],
)
def test_a_forecast(low: float, expectation: str) -> None:
    found = verdict(results("a", "b", forecast=foreseen(low)))[1]
    assert expectation in found
    assert f"r = 0.975 (95 % interval {low:.3f} to 0.990)" in found


@pytest.mark.parametrize("forecast", [None, foreseen(NAN)])
def test_no_forecast(forecast: Forecast | None) -> None:
    assert "was not computed, or the run is too small" in verdict(results("a", "b", forecast=forecast))[1]


@pytest.mark.parametrize(
    ("r", "outcome"),
    [
        (0.968, "The second run, two, agrees: the overall scores correlate at r = 0.968"),
        (0.8, "The second run, two, agrees in the main"),
        (-0.2, "The second run, two, does not agree: the overall scores correlate at r = −0.200"),
        (NAN, "The second run, two, has too few systems in common"),
    ],
)
def test_a_second_run(r: float, outcome: str) -> None:
    second = SimpleNamespace(
        name="two",
        z=SimpleNamespace(pearson={"overall": r}),
        same_conclusions=SameConclusions(38, 45, 0.1),
    )
    found = verdict(results("a", "b", replication=second, forecast=foreseen(0.94)))[1]
    assert found.startswith(outcome)
    assert "for 38 of 45 pairs of systems both draw the same conclusion" in found


@pytest.mark.parametrize(
    ("bound", "trust"), [(0.07, "The data look sound"), (0.4, "The data call for caution")]
)
def test_the_data(bound: float, trust: str) -> None:
    check = SimpleNamespace(random_among_passed=0.04, random_among_passed_bound=bound)
    found = verdict(results("a", "b", filter_check=check))[2]
    assert found.startswith(f"{trust}: 70 of 100 workers passed the filter (70.0 %)")
    assert f"about 4.0 %, hardly more than {100 * bound:.1f} %" in found


def test_the_data_without_an_estimate() -> None:
    check = SimpleNamespace(random_among_passed=NAN, random_among_passed_bound=NAN)
    for known in (None, check):
        assert "is not known" in verdict(results("a", "b", filter_check=known))[2]


def test_simulated_workers_come_first() -> None:
    found = verdict(results("a", "b", notes=(SIMULATED_NOTE,)))
    assert found[0] == SIMULATED
    assert len(found) == 4
    assert len(verdict(results("a", "b"))) == 3


def test_numbers_for_people() -> None:
    assert [decimal(value, 2) for value in (-0.5, -0.001, 1234.5, NAN)] == ["−0.50", "0.00", "1,234.50", "–"]
    assert [probability(p) for p in (0.0004, 0.001, 0.05, 1.0, NAN)] == [
        "<0.001",
        "0.001",
        "0.050",
        "1.000",
        "–",
    ]
    assert [percent(0.123), percent(NAN), whole(1520)] == ["12.3 %", "–", "1,520"]
    assert [between(-1, 2, 1), between(NAN, 2), ranks(3, 3), ranks(1, 4)] == ["−1.0 to 2.0", "–", "3", "1–4"]
    assert [listed(list("abcdef"), 3), listed(["a", "b"]), listed(["a"])] == [
        "a, b and 4 more",
        "a and b",
        "a",
    ]
