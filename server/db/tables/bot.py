"""The tables of bots: what can answer, what is registered, and how its checks ended."""

from datetime import datetime

from sqlmodel import Field

from server.db.tables.table import Table


class Bot(Table, table=True):
    """Something that can answer, by the spec it is opened with."""

    id: int | None = Field(default=None, primary_key=True)
    spec: str = Field(unique=True)


class Registration(Table, table=True):
    """A bot that is registered with the server. `endpoint`: canonical JSON of where and how it is asked;
    it names the environment variable of a key, never the key.
    """

    name: str = Field(primary_key=True)
    endpoint: str
    enabled: bool
    created_at: datetime


class BotCheck(Table, table=True):
    """A conformance check of a registered bot, and its whole report as JSON."""

    __tablename__ = "bot_check"
    id: int | None = Field(default=None, primary_key=True)
    name: str = Field(index=True)
    at: datetime
    verdict: str
    report: str
