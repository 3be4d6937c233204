"""The tables of counts that are kept up to date, so that no query has to count rows."""

from sqlmodel import Field

from server.db.tables.table import Table


class PlanCount(Table, table=True):
    """How many conversations with a system the held slots of a run have at a position: `plan_counts`."""

    __tablename__ = "plan_count"
    run_id: int = Field(foreign_key="run.id", primary_key=True)
    simulated: bool = Field(primary_key=True)
    system_id: int = Field(foreign_key="system.id", primary_key=True)
    position: int = Field(primary_key=True)
    number: int


class PairCount(Table, table=True):
    """How often two systems stood side by side, and which was preferred: `pair_counts`."""

    __tablename__ = "pair_count"
    run_id: int = Field(foreign_key="run.id", primary_key=True)
    simulated: bool = Field(primary_key=True)
    left_id: int = Field(foreign_key="system.id", primary_key=True)
    right_id: int = Field(foreign_key="system.id", primary_key=True)
    placed: int
    lefts: int
    ties: int
    rights: int


class AssignmentCount(Table, table=True):
    """How many assignments of a run have a status: `run_counts`."""

    __tablename__ = "assignment_count"
    run_id: int = Field(foreign_key="run.id", primary_key=True)
    simulated: bool = Field(primary_key=True)
    status: str = Field(primary_key=True)
    number: int


class RatedCount(Table, table=True):
    """How many rated conversations with a system the completed assignments of a run have: `run_counts`."""

    __tablename__ = "rated_count"
    run_id: int = Field(foreign_key="run.id", primary_key=True)
    simulated: bool = Field(primary_key=True)
    system_id: int = Field(foreign_key="system.id", primary_key=True)
    number: int


class FreePlace(Table, table=True):
    """A slot of a run that was given back and is free."""

    __tablename__ = "free_place"
    run_id: int = Field(foreign_key="run.id", primary_key=True)
    simulated: bool = Field(primary_key=True)
    place: int = Field(primary_key=True)


class Spending(Table, table=True):
    """The cost of a bot's calls in a run: `spending`."""

    run_id: int = Field(foreign_key="run.id", primary_key=True)
    bot_id: int = Field(foreign_key="bot.id", primary_key=True)
    cost: float
