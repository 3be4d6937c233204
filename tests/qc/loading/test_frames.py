"""A run of transcripts as it is read from a database, and what is said of one that is not in order."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from qc.convert import save
from qc.errors import DataError, OutputError
from qc.loading import load
from tests.qc.support.database import Database
from tests.qc.support.transcripts import add_item_run, item_database, simulated


@pytest.fixture
def ratings() -> pd.DataFrame:
    return simulated(np.random.default_rng(1), careful=3, random=1, items=6)


@pytest.fixture
def stored(tmp_path: Path) -> Callable[..., Database]:
    """Return a function that writes ratings as the only run of a database."""

    def store(ratings: pd.DataFrame, status: str = "completed") -> Database:
        database = item_database(tmp_path / "candor.db")
        add_item_run(database, ratings, status=status)
        return database

    return store


def test_a_row_is_an_item_on_a_screen(ratings: pd.DataFrame, stored: Callable[..., Database]) -> None:
    run = load(stored(ratings).path)
    assert run.items is not None
    assert len(run.conversations) == len(run.items) == len(run.ratings) == len(ratings)
    ordered = ratings.sort_values(["assignment", "position"], ignore_index=True)
    assert run.conversations["position"].tolist() == ordered["position"].tolist()
    assert run.conversations["is_qc"].tolist() == (ordered["kind"] == "bad").tolist()
    assert run.conversations["system"].astype(str).tolist() == ordered["system"].tolist()
    for name in ("item", "kind", "twin_of"):
        assert run.items[name].tolist() == ordered[name].tolist()
    assert run.ratings["fluent"].tolist() == ordered["fluent"].tolist()
    assert run.items["output"].tolist() == ordered["item"].tolist()
    assert run.assignments["seconds"].tolist() == [1800] * 4
    assert not run.systems["is_qc"].any()


def test_an_item_that_is_a_conversation_is_called_as_that(
    ratings: pd.DataFrame, stored: Callable[..., Database]
) -> None:
    database = stored(ratings)
    database.execute(
        "UPDATE v1_item_rating SET source_conversation_id = 'c-' || item_id WHERE system = 'ada'"
    )
    items = load(database.path).items
    assert items is not None
    ada = items["item"].astype(str).str.endswith("ada")
    assert (items.loc[ada, "output"] == "c-" + items.loc[ada, "item"].astype(str)).all()


def test_a_system_of_references_alone_is_not_ranked(
    ratings: pd.DataFrame, stored: Callable[..., Database]
) -> None:
    ratings.loc[ratings["kind"] == "reference", "system"] = "human"
    systems = load(stored(ratings).path).systems.set_index("system")["is_qc"]
    assert systems.to_dict() == {"ada": False, "bob": False, "cy": False, "dot": False, "human": True}


def test_a_database_of_before_there_were_tasks_is_read_as_ever(database: Database) -> None:
    assert load(database.path).items is None


def test_assignments_that_were_not_completed_are_left_out(
    ratings: pd.DataFrame, stored: Callable[..., Database]
) -> None:
    database = stored(ratings)
    database.execute("UPDATE v1_assignment SET status = 'active' WHERE assignment_id = 'r1-a00'")
    run = load(database.path)
    assert [out.reason for out in run.left_out] == ["not completed: active"]
    # Of a list that was broken off, a twin may be there without its ordinary item.
    last = ratings[(ratings["assignment"] == "a00") & (ratings["kind"] == "bad")]["twin_of"].iloc[0]
    database.execute(
        f"DELETE FROM v1_item_rating WHERE assignment_id = 'r1-a00' AND position = {last}"  # noqa: S608
    )
    partial = load(database.path, include_partial=True)
    assert partial.partial
    assert len(partial.conversations) == len(ratings) - 1


def refused(database: Database) -> str:
    with pytest.raises(DataError) as error:
        load(database.path)
    return str(error.value)


def test_what_is_wrong_with_an_item_is_told(ratings: pd.DataFrame, stored: Callable[..., Database]) -> None:
    first = ratings.index[ratings["kind"] == "bad"][0]
    place = f"assignment r1-a00, position {ratings.loc[first, 'position']}"
    changes = {
        "twin_of = 99": f"{place}: the kind of the item is 'bad', but position 99 has no ordinary item. "
        "Correct it or take the assignment out.",
        "twin_of = NULL": f"{place}: the kind of the item is 'bad', but it does not name its "
        "ordinary item. Correct it or take the assignment out.",
        "kind = 'odd'": f"{place}: the kind of the item is 'odd'. Known are: ordinary, bad, repeat, "
        "reference.",
        "value = 101": f"{place}: 'fluent' is rated 101, not within 0 to 100.",
        "value = 'high'": f"{place}: the rating of 'fluent' is 'high', which is not a number.",
        "twin_of = 'x'": f"{place}: twin_of is 'x', which is not a number.",
    }
    database = stored(ratings)
    where = f"assignment_id = 'r1-a00' AND position = {ratings.loc[first, 'position']}"
    for change, message in changes.items():
        database.execute("CREATE TABLE kept AS SELECT * FROM v1_item_rating")
        database.execute(f"UPDATE v1_item_rating SET {change} WHERE {where}")  # noqa: S608
        assert message in refused(database)
        database.execute("DROP TABLE v1_item_rating")
        database.execute("ALTER TABLE kept RENAME TO v1_item_rating")
    load(database.path)


def test_an_item_cannot_be_of_two_systems(ratings: pd.DataFrame, stored: Callable[..., Database]) -> None:
    ordinary = ratings[ratings["kind"] == "ordinary"]
    again = ordinary[ordinary["item"].duplicated()].index[0]
    ratings.loc[again, "system"] = "dot" if ratings.loc[again, "system"] == "ada" else "ada"
    assert f"item {ratings.loc[again, 'item']!r} is of the system" in refused(stored(ratings))


def test_a_rating_that_is_missing_is_told(ratings: pd.DataFrame, stored: Callable[..., Database]) -> None:
    database = stored(ratings)
    database.execute(
        "DELETE FROM v1_item_rating WHERE assignment_id = 'r1-a01' AND position = 3 AND criterion = 'clear'"
    )
    assert "assignment r1-a01, position 3: 'clear' is not rated." in refused(database)


def test_other_formats_cannot_hold_it(
    ratings: pd.DataFrame, stored: Callable[..., Database], tmp_path: Path
) -> None:
    run = load(stored(ratings).path)
    with pytest.raises(OutputError, match="rates transcripts, and these formats hold conversations only"):
        save(run, tmp_path / "run.json", "hits")
    assert not (tmp_path / "run.json").exists()
