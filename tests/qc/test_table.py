"""Numbers as a reader meets them."""

from math import nan

from qc.table import between, counted, decimal, listed, percent, probability, ranks, whole


def test_numbers_for_people() -> None:
    assert [counted(n, "vote") for n in (0, 1, 2_000)] == ["0 votes", "1 vote", "2,000 votes"]
    assert [decimal(value, 2) for value in (-0.5, -0.001, 1234.5, nan)] == ["−0.50", "0.00", "1,234.50", "–"]
    assert [probability(p) for p in (0.0004, 0.001, 0.05, 1.0, nan)] == [
        "< 0.001",
        "0.001",
        "0.050",
        "1.000",
        "–",
    ]
    assert [percent(0.123), percent(nan), whole(1520)] == ["12.3 %", "–", "1,520"]
    assert [between(-1, 2, 1), between(nan, 2), ranks(3, 3), ranks(1, 4)] == ["−1.0 to 2.0", "–", "3", "1–4"]
    assert [listed(list("abcdef"), 3), listed(["a", "b"]), listed(["a"])] == [
        "a, b and 4 more",
        "a and b",
        "a",
    ]
