"""docs/reference/stored-data.md describes every table, and the privacy page what removal leaves."""

import re
from pathlib import Path

from sqlmodel import SQLModel

from server.db.tables import REMOVED

DOCUMENTS = Path(__file__).parents[3] / "docs"


def test_every_table_is_described() -> None:
    text = (DOCUMENTS / "reference" / "stored-data.md").read_text(encoding="utf-8")
    described = re.findall(r"^\| `(\w+)` \| \w", text, re.MULTILINE)
    assert sorted(described) == sorted(SQLModel.metadata.tables)


def test_it_names_what_stands_where_words_were() -> None:
    assert f"`{REMOVED}`" in (DOCUMENTS / "explanation" / "privacy.md").read_text(encoding="utf-8")
