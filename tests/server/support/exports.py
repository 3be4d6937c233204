"""Exports that a server makes in the background."""

from typing import Any

from tests.server.support.server import House
from tests.server.support.study import RUN
from tests.support.waiting import ENOUGH, wait_until

_OVER = {"done", "failed", "cancelled"}


def exports(house: House, run: str = RUN) -> list[dict[str, Any]]:
    """Return the exports of a run that the desk shows."""
    found: list[dict[str, Any]] = house.desk(f"/runs/{run}/exports").json()["exports"]
    return found


def made_export(house: House, form: str = "jsonl", run: str = RUN) -> dict[str, Any]:
    """Have a run exported; return the job once it is over."""
    answer = house.desk(f"/runs/{run}/exports", method="POST", json={"format": form})
    assert answer.status_code == 202, answer.text
    job = answer.json()["job"]

    def latest() -> dict[str, Any]:
        return next(each for each in exports(house, run) if each["job"] == job)

    wait_until(lambda: latest()["status"] in _OVER, "the export", ENOUGH)
    return latest()
