"""The sign test: are there more of one kind than of the other?

Source: Dixon and Mood, *The statistical sign test*, Journal of the American Statistical Association 41 (1946)
557-566. Under the null hypothesis each is of either kind with probability 1/2, so the count is binomial.
"""

from scipy.special import bdtr, bdtrc


def sign_test(more: int, less: int) -> float:
    """Return the two-sided p-value that `more` and `less` are equally likely; NaN if both are 0."""
    return min(1.0, 2 * float(bdtr(min(more, less), more + less, 0.5))) if more + less else float("nan")


def sign_test_greater(more: int, less: int) -> float:
    """Return the one-sided p-value, alternative: `more` is the likelier; NaN if both are 0."""
    if not more + less:
        return float("nan")
    return float(bdtrc(more - 1, more + less, 0.5)) if more else 1.0
