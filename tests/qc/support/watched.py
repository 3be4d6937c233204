"""Record a command's calls of the loaders and its progress messages."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

from qc.loading import LoadOptions, Source, read_run
from qc.options import OnStep
from qc.run import Run


@dataclass
class Watched:
    """What each reading of a run asked for, how many steps were announced, and what each was said to be."""

    loads: list[LoadOptions] = field(default_factory=list)
    announced: int = 0
    said: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, module: str, monkeypatch: pytest.MonkeyPatch) -> "Watched":
        """Return what will be seen of the command line in `module`."""
        watched = cls()

        def reading(source: Source, options: LoadOptions) -> Run:
            watched.loads.append(options)
            return read_run(source, options)

        @contextmanager
        def progress(_: object, steps: int, *, lines: bool = False) -> Iterator[OnStep]:
            assert not lines  # nobody has asked for lines instead of the bar
            watched.announced = steps
            yield watched.said.append

        monkeypatch.setattr(f"{module}.read_run", reading)
        monkeypatch.setattr(f"{module}.progress", progress)
        return watched
