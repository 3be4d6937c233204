"""Base of all tables, whose columns are named `TableBase.c` in queries."""

import re
from typing import Annotated, Any, ClassVar

from pydantic import Field
from sqlalchemy import Column, Index, text
from sqlalchemy.orm import declared_attr
from sqlalchemy.sql.base import ReadOnlyColumnCollection
from sqlmodel import SQLModel

# The limit of PostgreSQL's integers; SQLite's are larger, and a number beyond this limit caused a server
# error.
MOST = 2**31 - 1
RowNumber = Annotated[int, Field(ge=0, le=MOST)]  # in a URL, where every number is a text
GivenNumber = Annotated[int, Field(ge=0, le=MOST, strict=True)]  # in a body


def index_where(condition: str, name: str, *columns: str, unique: bool = False) -> Index:
    """Return an index of the rows that satisfy `condition`, for every kind of database."""
    where = text(condition)
    return Index(name, *columns, unique=unique, sqlite_where=where, postgresql_where=where)


class _Columns:
    def __get__(self, _: object, table: type[SQLModel]) -> ReadOnlyColumnCollection[str, Column[Any]]:
        return SQLModel.metadata.tables[str(table.__tablename__)].columns


class TableBase(SQLModel):
    """A table of the database: `TopicMarkTable` is `topic_mark`. Its `c` has the columns, for queries.

    `removed_with`: the extents of a removal (`id`, `words`, `all`) that take out the row or the named
    columns, or another moment at which the row goes; empty if it stays.
    """

    c: ClassVar[_Columns] = _Columns()
    removed_with: ClassVar[str] = ""

    @declared_attr.directive
    def __tablename__(cls) -> str:  # noqa: N805
        name = cls.__name__.removesuffix("Table")
        return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
