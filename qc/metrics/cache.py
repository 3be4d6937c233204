"""Cache computed values on disk, with a hash of their input as key."""

import hashlib
import json
import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from qc.errors import OutputError

Item = TypeVar("Item")


class Cache:
    """Cached values by key. Values are on disk when `put` returns."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        """Use a connection that `open_cache` opened."""
        self._connection = connection

    def get(self, key: str) -> Any:
        """Return the value under `key`; None if there is none."""
        row = self._connection.execute("SELECT value FROM cached WHERE key = ?", (key,)).fetchone()
        return None if row is None else json.loads(row[0])

    def put(self, values: Mapping[str, Any]) -> None:
        """Keep `values`, which JSON can hold, under their keys."""
        rows = [(key, json.dumps(value)) for key, value in values.items()]
        with self._connection:
            self._connection.executemany("INSERT OR REPLACE INTO cached VALUES (?, ?)", rows)

    def computed(
        self,
        keys: Sequence[str],
        items: Sequence[Item],
        compute: Callable[[Sequence[Item]], Sequence[Any]],
        block: int,
        on_block: Callable[[int], None],
    ) -> list[Any]:
        """Return a value for each of `items`: the cached one, or else a newly computed one.

        Args:
            keys: keys of the items.
            items: inputs of the computation.
            compute: returns a value for each given item; it gets at most `block` items.
            block: number of items to compute before they are stored.
            on_block: called before each block with the number of items done.
        """
        values = {key: self.get(key) for key in keys}
        missing = {key: item for key, item in zip(keys, items, strict=True) if values[key] is None}
        names = list(missing)
        for start in range(0, len(names), block):
            on_block(len(keys) - len(names) + start)
            some = names[start : start + block]
            fresh = dict(zip(some, compute([missing[name] for name in some]), strict=True))
            self.put(fresh)
            values |= fresh
        return [values[key] for key in keys]


def content_key(*parts: object) -> str:
    """Return the key of a value computed from `parts`, which must be JSON values."""
    return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode("utf-8", "replace")).hexdigest()


def default_path() -> Path:
    """Return the default path of the cache, in the user's cache folder."""
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "candor" / "metrics.db"


@contextmanager
def open_cache(path: Path) -> Iterator[Cache]:
    """Yield the cache in the file at `path`, which is created if missing.

    Raises:
        OutputError: it cannot be written, or the file is not a cache.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(path)
        connection.execute("CREATE TABLE IF NOT EXISTS cached (key TEXT PRIMARY KEY, value TEXT NOT NULL)")
    except (OSError, sqlite3.Error) as error:
        raise OutputError(
            f"{path}: this cannot be used as the cache ({error}). Name another --cache."
        ) from None
    try:
        yield Cache(connection)
    finally:
        connection.close()
