"""Assert that two runs are the same."""

import pandas as pd

from qc.run import Run


def same_run(one: Run, other: Run, *, apart_from: tuple[str, ...] = ()) -> None:
    """Assert that two runs are equal to the bit, apart from the named attributes and where they were read."""
    for name in ("criteria", "systems", "assignments", "conversations", "ratings"):
        same_frame(getattr(one, name), getattr(other, name), apart_from)
    for name in {"name", "partial", "people", "left_out", "notes"} - set(apart_from):
        assert getattr(one, name) == getattr(other, name)
    assert (one.incidents is None) == (other.incidents is None) or "incidents" in apart_from
    if one.incidents is not None and other.incidents is not None:
        same_frame(one.incidents, other.incidents)
    assert (one.words is None) == (other.words is None)
    if one.words is not None and other.words is not None:
        for name in ("exchanges", "topics", "changes"):
            same_frame(getattr(one.words, name), getattr(other.words, name))


def same_frame(one: pd.DataFrame, other: pd.DataFrame, apart_from: tuple[str, ...] = ()) -> None:
    assert list(one) == list(other)
    for name in [name for name in one if name not in apart_from]:
        first, second = one[name], other[name]
        if isinstance(first.dtype, pd.CategoricalDtype):  # whose categories may be named after their source
            assert list(first.cat.categories) == list(second.cat.categories)
            first, second = first.cat.codes, second.cat.codes
        pd.testing.assert_series_equal(first, second, check_exact=True)
