"""The sign test against SciPy's binomial test, which takes a second to import."""

import math

import pytest
from scipy.stats import binomtest

from qc.statistics.rank_tests import sign_test, sign_test_greater


@pytest.mark.parametrize(("more", "less"), [(0, 1), (1, 0), (3, 3), (7, 2), (2, 7), (0, 12), (40, 61)])
def test_as_scipy(more: int, less: int) -> None:
    both = binomtest(more, more + less)
    one = binomtest(more, more + less, alternative="greater")
    assert sign_test(more, less) == pytest.approx(both.pvalue, rel=1e-12)
    assert sign_test_greater(more, less) == pytest.approx(one.pvalue, rel=1e-12)


def test_without_any_there_is_no_p() -> None:
    assert math.isnan(sign_test(0, 0))
    assert math.isnan(sign_test_greater(0, 0))
