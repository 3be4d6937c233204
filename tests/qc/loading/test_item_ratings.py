"""The file that `candor data export` writes of a run of transcripts, and what is said of one not in order."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from qc.errors import DataError, SourceError
from qc.loading import load
from qc.run import SIMULATED_NOTE, Run
from tests.qc.support.same import same_frame, same_run
from tests.qc.support.transcripts import MINUTES, add_item_run, item_database, simulated

Json = dict[str, Any]
CRITERIA = ("fluent", "clear")


@pytest.fixture
def ratings() -> pd.DataFrame:
    return simulated(np.random.default_rng(1), careful=3, random=1, items=6)


@pytest.fixture
def lines(ratings: pd.DataFrame) -> list[Json]:
    """The lines of a file, free to be changed: the header, then four assignments."""
    header = {
        "format": "candor-item-ratings",
        "version": 1,
        "run": "r1",
        "study": "texts",
        "assignments": 4,
        "simulated": False,
        "criteria": [
            {"label": label, "statement": "…", "negative": False, "counts_for_qc": True, "maximum": 100}
            for label in CRITERIA
        ],
        "systems": [{"system": name, "family": name} for name in ("ada", "bob", "cy", "dot", "unused")],
    }
    assignments = [
        {
            "assignment": f"r1-{name}",
            "worker": rows["worker"].iloc[0],
            "duration_seconds": 60.0 * MINUTES,
            "feedback": None,
            "items": [
                {
                    "position": row["position"],
                    "item": row["item"],
                    "source": "text",
                    "source_conversation": None,
                    "system": row["system"],
                    "kind": row["kind"],
                    "twin_of": row["twin_of"] or None,
                    "seconds": 12.5,
                    "ratings": {label: row[label] for label in CRITERIA},
                }
                for row in rows.to_dict("records")
            ],
        }
        for name, rows in ratings.groupby("assignment")
    ]
    return [header, *assignments]


@pytest.fixture
def read(tmp_path: Path) -> Callable[[list[Json]], Run]:
    """Return a function that writes lines and loads them."""

    def written(lines: list[Json]) -> Run:
        path = tmp_path / "item_ratings.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        return load(path)

    return written


def test_a_key_given_twice_is_refused(lines: list[Json], tmp_path: Path) -> None:
    first, *others = map(json.dumps, lines)
    path = tmp_path / "item_ratings.jsonl"
    others[0] = others[0].replace('"kind": ', '"kind": "control", "kind": ', 1)
    path.write_text("\n".join([first, *others]), encoding="utf-8")
    with pytest.raises(DataError, match=r"line 2.items\[0\]: the key 'kind' is there twice"):
        load(path)


def test_a_file_says_what_the_database_says(
    lines: list[Json], read: Callable[[list[Json]], Run], ratings: pd.DataFrame, tmp_path: Path
) -> None:
    database = item_database(tmp_path / "candor.db")
    add_item_run(database, ratings)
    from_file, from_database = read(lines), load(database.path)
    same_run(from_file, from_database)
    assert from_file.items is not None
    assert from_database.items is not None
    same_frame(from_file.items, from_database.items)


def test_edits_and_conversations_are_read(lines: list[Json], read: Callable[[list[Json]], Run]) -> None:
    lines[1]["items"][0] |= {"source_conversation": "c-7", "edited_text": "Better.", "edit_share": 0.25}
    items = read(lines).items
    assert items is not None
    assert (items.loc[0, "output"], items.loc[0, "edit_share"]) == ("c-7", 0.25)
    assert items["edit_share"].notna().sum() == 1


def test_simulated_workers_are_told_of(lines: list[Json], read: Callable[[list[Json]], Run]) -> None:
    lines[0]["simulated"] = True
    assert read(lines).notes == (SIMULATED_NOTE,)


def test_a_newer_version_is_refused(lines: list[Json], read: Callable[[list[Json]], Run]) -> None:
    lines[0]["version"] = 2
    with pytest.raises(
        SourceError, match="this export has version 2, and this program reads up to version 1"
    ):
        read(lines)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda lines: lines.pop(), "line 1.assignments: announces 4, but the file holds 3."),
        (lambda lines: lines[0].pop("criteria"), "line 1.criteria: the field is missing."),
        (lambda lines: lines[2].pop("worker"), "line 3.worker: the field is missing."),
        (
            lambda lines: lines[2]["items"][4].update(kind="odd"),
            "line 3, items[4]: the kind of the item is 'odd'.",
        ),
        (
            lambda lines: lines[2]["items"][4]["ratings"].pop("clear"),
            "line 3, items[4]: 'clear' is not rated.",
        ),
        (
            lambda lines: lines[2]["items"][4].update(system="nobody"),
            "line 3, items[4]: unknown system 'nobody'.",
        ),
    ],
)
def test_what_is_wrong_is_told(
    lines: list[Json],
    read: Callable[[list[Json]], Run],
    change: Callable[[list[Json]], object],
    message: str,
) -> None:
    change(lines)
    with pytest.raises(DataError) as error:
        read(lines)
    assert message in str(error.value)
