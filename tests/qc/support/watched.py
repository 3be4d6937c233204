"""What a command line asks of the loaders, and what it tells of its progress."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from qc.load import load
from qc.progress import OnStep


@dataclass
class Watched:
    """The arguments of each `load`, the number of steps announced, and the description of each step."""

    loads: list[dict[str, Any]] = field(default_factory=list)
    announced: int = 0
    told: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, module: str, monkeypatch: pytest.MonkeyPatch) -> "Watched":
        """Return what will be seen of the command line in `module`."""
        watched = cls()

        def loading(*given: Any, **named: Any) -> Any:
            watched.loads.append(named)
            return load(*given, **named)

        @contextmanager
        def progress(_: object, steps: int) -> Iterator[OnStep]:
            watched.announced = steps
            yield watched.told.append

        monkeypatch.setattr(f"{module}.load", loading)
        monkeypatch.setattr(f"{module}.progress", progress)
        return watched
