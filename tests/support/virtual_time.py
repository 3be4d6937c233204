"""An event loop whose clock is ahead at once, so that what takes hours takes as long as it computes."""

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class _SkippingSelector(selectors.DefaultSelector):
    """Never waits: where nothing is ready, the time until the next timer has passed."""

    passed = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready and timeout is None:
            raise RuntimeError("nothing will ever happen: no timer is set and nothing is ready")
        if not ready and timeout is not None:
            self.passed += max(timeout, 0.0)
        return ready


class _VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._skipping = _SkippingSelector()
        super().__init__(self._skipping)

    def time(self) -> float:
        return self._skipping.passed


def run_in_virtual_time(work: Coroutine[Any, Any, T]) -> T:
    """Return what `work` returns; whatever it waits for on the clock of its event loop is over at once.

    It must not wait for other threads or processes.
    """
    with asyncio.Runner(loop_factory=_VirtualLoop) as runner:
        return runner.run(work)
