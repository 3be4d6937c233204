"""The first lines of items and of comparisons, in JSON Lines: what a reader takes a run for."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from sqlalchemy import Connection

from server.db.engine import open_engine
from server.db.runs.runs import RunEntry, find_run
from server.export.hits_data import choice_lines, item_lines
from tests.server.support.database import make_run
from tests.server.support.items import ITEMS_RUN, make_items_run
from tests.server.support.study import RUN, SYSTEMS, pairs_text

pytestmark = pytest.mark.databases("sqlite", "postgresql")


def header(
    url: str, slug: str, lines: Callable[[Connection, RunEntry], Iterator[dict[str, Any]]]
) -> dict[str, Any]:
    engine = open_engine(url)
    with engine.begin() as connection:
        (first,) = lines(connection, find_run(connection, slug))
    engine.dispose()
    return first


def criterion(label: str, statement: str, *, negative: bool, qc: bool) -> dict[str, Any]:
    declared = {"label": label, "statement": statement, "negative": negative, "counts_for_qc": qc}
    return declared | {"maximum": 100}


def test_of_items(url: str) -> None:
    make_items_run(url)
    assert header(url, ITEMS_RUN, item_lines) == {
        "format": "candor-item-ratings",
        "version": 1,
        "run": ITEMS_RUN,
        "study": "gallery",
        "assignments": 0,
        "simulated": False,
        "criteria": [
            criterion("clear", "It was clear.", negative=False, qc=True),
            criterion("dull", "It was dull.", negative=True, qc=True),
        ],
        "systems": [{"system": "heron", "family": "heron"}, {"system": "ibis", "family": "ibis"}],
    }


def test_of_comparisons(url: str) -> None:
    criteria = [
        {"label": "fun", "statement": "It was fun."},
        {"label": "robotic", "statement": "It was a machine.", "negative": True, "qc": False},
    ]
    make_run(url, pairs_text(criteria=criteria))
    assert header(url, RUN, choice_lines) == {
        "format": "candor-choices",
        "version": 1,
        "run": RUN,
        "study": "lighthouse",
        "assignments": 0,
        "simulated": False,
        "comparison": {"choose": "end", "history": "own", "ties": True, "question": None},
        "criteria": [
            criterion("fun", "It was fun.", negative=False, qc=True),
            criterion("robotic", "It was a machine.", negative=True, qc=False),
        ],
        "systems": [
            *({"system": name, "family": SYSTEMS[name], "is_qc": False} for name in sorted(SYSTEMS)[:3]),
            {"system": "qc", "family": "qc", "is_qc": True},
            *({"system": name, "family": SYSTEMS[name], "is_qc": False} for name in sorted(SYSTEMS)[3:]),
        ],
    }
