"""Describe tables, and name their columns for queries."""

from typing import Any

from sqlalchemy import Column, Index, text
from sqlalchemy.sql.base import ReadOnlyColumnCollection
from sqlmodel import SQLModel


def index_where(condition: str, name: str, *columns: str, unique: bool = False) -> Index:
    """Return an index of the rows that `condition` holds for, on every kind of database."""
    where = text(condition)
    return Index(name, *columns, unique=unique, sqlite_where=where, postgresql_where=where)


def columns(model: type[SQLModel]) -> ReadOnlyColumnCollection[str, Column[Any]]:
    """Return the columns of a table, for expressions in queries."""
    return SQLModel.metadata.tables[str(model.__tablename__)].columns
