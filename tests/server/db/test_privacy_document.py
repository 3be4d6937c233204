"""docs/reference/stored-data.md describes every table with every column, and nothing else."""

import re
from pathlib import Path

from sqlmodel import SQLModel

from server.db import tables as models
from server.db.tables import REMOVED

DOCUMENTS = Path(__file__).parents[3] / "docs"
ROW = re.compile(r"^\| `(\w+)` \| [^|]+ \| ((?:`\w+`(?:, )?)+) \| ([^|]+) \|$", re.MULTILINE)


def described() -> dict[str, list[str]]:
    text = (DOCUMENTS / "reference" / "stored-data.md").read_text(encoding="utf-8")
    return {name: re.findall(r"`(\w+)`", columns) for name, columns, _ in ROW.findall(text)}


def test_every_table_and_column_is_described() -> None:
    """A new column needs a line in docs/reference/stored-data.md: its content, and what removes it."""
    tables = [
        member.__table__
        for member in vars(models).values()
        if isinstance(member, type) and issubclass(member, SQLModel) and hasattr(member, "__table__")
    ]
    stored = {table.name: [column.name for column in table.columns] for table in tables}
    assert len(stored) == len(SQLModel.metadata.tables)
    assert described() == stored


def test_it_names_what_stands_where_words_were() -> None:
    assert f"`{REMOVED}`" in (DOCUMENTS / "explanation" / "privacy.md").read_text(encoding="utf-8")
