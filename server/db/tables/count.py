"""The tables of what is counted of a run as it changes, so that nobody counts rows."""

from sqlmodel import Field

from server.db.tables.table import Table


class PlanCount(Table, table=True):
    """How many conversations the held places of a run have with a system at a position: `plan_counts`."""

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
    """A place of a run that was given back, and that nobody holds."""

    __tablename__ = "free_place"
    run_id: int = Field(foreign_key="run.id", primary_key=True)
    simulated: bool = Field(primary_key=True)
    place: int = Field(primary_key=True)


class Spending(Table, table=True):
    """What the calls of a bot have cost in a run: `spending`."""

    run_id: int = Field(foreign_key="run.id", primary_key=True)
    bot_id: int = Field(foreign_key="bot.id", primary_key=True)
    cost: float
