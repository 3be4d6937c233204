"""Tests of the check's measures: expected values by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bots.conformance.measures import expected_overruns, quantile, same
from server.session.reply_time import ReplyTime

TIMES = st.lists(st.floats(0, 1e3), min_size=1, max_size=30)


def test_expected_overruns_by_hand() -> None:
    # 0.5 s is late for none of the delays, 2.5 s for two of four, 9 s for all: (0 + 2/4 + 1) / 3.
    assert expected_overruns([0.5, 2.5, 9.0], [4.0, 1.0, 3.0, 2.0]) == pytest.approx(0.5)
    # A reply that comes exactly when it is to be shown is not late.
    assert expected_overruns([1.0], [1.0]) == 0.0


@given(TIMES, TIMES)
def test_expected_overruns_are_the_share_of_pairs_in_which_the_bot_is_slower(
    seconds: list[float], delays: list[float]
) -> None:
    late = sum(delay < each for each in seconds for delay in delays)
    assert expected_overruns(seconds, delays) == pytest.approx(late / len(seconds) / len(delays))


@given(TIMES, st.integers(2, 60))
def test_a_share_of_late_replies_moves_the_auc_by_half_of_it_at_most(seconds: list[float], n: int) -> None:
    """What the limit of 10 % rests on. AUC: the chance that the system's reply is shown later, ties half."""
    delays = np.array(ReplyTime().quantiles(200))[:: 200 // n]
    shown = np.maximum.outer(np.array(seconds), delays).ravel()
    auc = (np.less.outer(delays, shown).mean() + np.less_equal.outer(delays, shown).mean()) / 2
    assert auc - 0.5 <= expected_overruns(seconds, list(delays)) / 2 + 1 / len(delays)


def test_quantiles() -> None:
    assert quantile([3.0, 1.0, 2.0], 0.5) == 2.0
    assert quantile([1.0], 0.95) == 1.0
    assert quantile([0.0, 1.0], 0.95) == pytest.approx(0.95)


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("I see.", "i  see!", True),
        ("?!", "?!", True),
        ("?!", "...", False),
        ("Yes", "No", False),
        ("你好", "你好。", True),
    ],
)
def test_replies_are_compared_without_case_and_marks(one: str, other: str, alike: bool) -> None:
    assert (same(one) == same(other)) == alike
