"""How long a run still takes."""

import pytest

from server.desk.progress import minutes_to_go


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
