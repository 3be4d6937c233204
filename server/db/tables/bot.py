"""The tables of bots: all that were ever used, the registered ones, and their checks."""

from datetime import datetime

from sqlmodel import Field

from server.db.tables.table import Table


class Bot(Table, table=True):
    """A bot, by the spec with which it is opened."""

    id: int | None = Field(default=None, primary_key=True)
    spec: str = Field(unique=True)


class Registration(Table, table=True):
    """A bot that is registered with the server. `endpoint`: canonical JSON of where and how it is asked. It
    contains the name of a key's environment variable, never the key.
    """

    name: str = Field(primary_key=True)
    endpoint: str
    enabled: bool
    created_at: datetime


class BotCheck(Table, table=True):
    """A conformance check of a registered bot, with its whole report as JSON."""

    __tablename__ = "bot_check"
    id: int | None = Field(default=None, primary_key=True)
    name: str = Field(index=True)
    at: datetime
    verdict: str
    report: str
