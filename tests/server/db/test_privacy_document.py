"""docs/privacy.md describes every table with every column, and nothing else."""

import re
from pathlib import Path

from sqlmodel import SQLModel

from server.db import tables as models
from server.db.tables import REMOVED

DOCUMENT = Path(__file__).parents[3] / "docs" / "privacy.md"
ROW = re.compile(r"^\| `(\w+)` \| [^|]+ \| ((?:`\w+`(?:, )?)+) \| ([^|]+) \|$", re.MULTILINE)


def described() -> dict[str, list[str]]:
    text = DOCUMENT.read_text(encoding="utf-8")
    return {name: re.findall(r"`(\w+)`", columns) for name, columns, _ in ROW.findall(text)}


def test_every_table_and_column_is_described() -> None:
    """Whoever stores something new says in docs/privacy.md what it is of whom, and when it is removed."""
    tables = [
        member.__table__
        for member in vars(models).values()
        if isinstance(member, type) and issubclass(member, SQLModel) and hasattr(member, "__table__")
    ]
    stored = {table.name: [column.name for column in table.columns] for table in tables}
    assert len(stored) == len(SQLModel.metadata.tables)
    assert described() == stored


def test_it_names_what_stands_where_words_were() -> None:
    assert f"`{REMOVED}`" in DOCUMENT.read_text(encoding="utf-8")
