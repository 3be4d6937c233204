"""Tests of the cache of computed metrics: each score is computed once and kept."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from qc.errors import OutputError
from qc.metrics.cache import content_key, default_path, open_cache


def test_only_what_is_missing_is_computed(tmp_path: Path) -> None:
    asked: list[list[str]] = []
    steps: list[int] = []

    def lengths(some: Sequence[str]) -> list[float]:
        asked.append(list(some))
        return [float(len(each)) for each in some]

    with open_cache(tmp_path / "deep" / "cache.db") as cache:
        items = ["a", "bb", "ccc", "bb"]
        keys = [content_key("length", each) for each in items]
        assert cache.computed(keys[:2], items[:2], lengths, 8, steps.append) == [1, 2]
        assert cache.computed(keys, items, lengths, 8, steps.append) == [1, 2, 3, 2]
    with open_cache(tmp_path / "deep" / "cache.db") as cache:
        assert cache.computed(keys, items, lengths, 8, steps.append) == [1, 2, 3, 2]
    assert asked == [["a", "bb"], ["ccc"]]


def test_what_was_computed_before_an_error_is_kept(tmp_path: Path) -> None:
    def fails_at_the_third(some: Sequence[int]) -> list[int]:
        if 3 in some:
            raise RuntimeError
        return list(some)

    keys = [content_key(number) for number in range(5)]
    with open_cache(tmp_path / "cache.db") as cache:
        with pytest.raises(RuntimeError):
            cache.computed(keys, range(5), fails_at_the_third, 2, lambda _: None)
        # Blocks of two: 0 and 1 are there, 2 was in the block that failed.
        assert [cache.get(key) for key in keys] == [0, 1, None, None, None]


def test_a_score_that_is_not_known_is_kept_too(tmp_path: Path) -> None:
    with open_cache(tmp_path / "cache.db") as cache:
        cache.put({"key": float("nan")})
        assert np.isnan(cache.get("key"))


def test_keys_differ_where_contents_do() -> None:
    assert content_key("a", "b") != content_key("ab")
    assert content_key(1) != content_key("1")
    assert content_key(["a", "b"]) == content_key(("a", "b"))


def test_a_file_that_is_no_cache_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "notes.txt"
    other.write_text("these are my notes, and no database at all", encoding="utf-8")
    with pytest.raises(OutputError, match=r"notes\.txt: this cannot be used as the cache"), open_cache(other):
        pass
    assert other.read_text(encoding="utf-8").startswith("these are my notes")


def test_it_lies_where_the_user_keeps_caches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_path() == tmp_path / "candor" / "metrics.db"
