"""Tests of a run's progress: the conversations due to each system, and the remaining time."""

from typing import Any

import pytest

from server.desk.runs.progress import minutes_to_go, systems
from server.study import parse_study
from tests.server.support.study import pairs_text, study_text

# Two systems of one family, and one of another.
FAMILIES = {"quokka_plain": "quokka", "quokka_warm": "quokka", "wombat_plain": "wombat", "qc": "qc"}


def aims(text: str, places: int) -> dict[str, float | None]:
    found = systems([], parse_study(text), FAMILIES, places)
    return {each.system: each.aim for each in found}


def test_families_are_to_have_equally_many_conversations() -> None:
    # 10 assignments of 3 systems: 15 a family; one with the qc bot each.
    assert aims(study_text(), 10) == {
        "quokka_plain": 7.5,
        "quokka_warm": 7.5,
        "wombat_plain": 15.0,
        "qc": 10.0,
    }


@pytest.mark.parametrize(
    ("changes", "each", "qc"),
    [
        # 12 assignments of 2 pairs of systems, and of a system and the qc bot: 12 · (2 · 2 + 1) / 3 = 20.
        ({}, 20.0, 12.0),
        ({"qc_per_assignment": 0}, 16.0, 0.0),
    ],
)
def test_side_by_side_every_system_is_to_have_equally_many(
    changes: dict[str, Any], each: float, qc: float
) -> None:
    aim = aims(pairs_text({"pairs": 2}, **changes), 12)
    assert aim == {**dict.fromkeys(FAMILIES, each), "qc": qc}


@pytest.mark.parametrize(
    ("wanted", "completed", "lately", "expected"),
    [
        # 8 are left; 4 came within the last 20 minutes, so one comes every 5.
        (20, 12, [1.0, 8.0, 15.0, 20.0], 40),
        (20, 19, [0.5, 1.0, 3.0], 1),
        (20, 20, [1.0, 2.0, 3.0], 0),
        (20, 12, [1.0, 8.0], None),  # two are no pace
        (None, 12, [1.0, 8.0, 15.0], None),  # no end
    ],
)
def test_the_pace_of_late_says_how_long_it_takes(
    wanted: int | None, completed: int, lately: list[float], expected: int | None
) -> None:
    assert minutes_to_go(wanted, completed, lately) == expected
