"""A client of the server's event streams that follows them as a page does."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx2

from tests.server.support.server import House
from tests.support.waiting import PATIENCE


class Stream:
    """The events of a stream as they come: their data, and the id of the last."""

    def __init__(self, response: httpx2.Response) -> None:
        self.status = response.status_code
        self._lines = response.iter_lines()
        self.last = ""

    def next(self) -> dict[str, Any]:
        data: dict[str, Any] = {}
        for line in self._lines:
            if line.startswith("data:"):
                data = json.loads(line.removeprefix("data:"))
            elif line.startswith("id:"):
                self.last = line.removeprefix("id:").strip()
            elif not line and data:
                return data
        raise AssertionError("the stream has ended")

    def until(self, holds: Any) -> dict[str, Any]:
        while not holds(found := self.next()):
            pass
        return found


@contextmanager
def watching(house: House, path: str, after: str | None = None) -> Iterator[Stream]:
    headers = {"Authorization": f"Bearer {house.auth.researcher_token}"}
    headers |= {"Last-Event-ID": after} if after else {}
    url = f"http://127.0.0.1:{house.port}/api/desk/watch{path}"
    with httpx2.stream("GET", url, headers=headers, timeout=PATIENCE, verify=False) as response:
        yield Stream(response)
