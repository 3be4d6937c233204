"""The tables of counts that are kept up to date, so that no query has to count rows."""

from sqlmodel import Field

from server.db.tables.table import Table


class PlanCount(Table, table=True):
    """The number of conversations with a system at a position in a run's held slots: `plan_counts`."""

    __tablename__ = "plan_count"
    run_id: int = Field(foreign_key="run.id", primary_key=True)
    simulated: bool = Field(primary_key=True)
    system_id: int = Field(foreign_key="system.id", primary_key=True)
    position: int = Field(primary_key=True)
    number: int


class PairCount(Table, table=True):
    """The number of pairs of two systems, and the preferences between them: `pair_counts`."""

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
    """The number of a run's assignments with a status: `run_counts`."""

    __tablename__ = "assignment_count"
    run_id: int = Field(foreign_key="run.id", primary_key=True)
    simulated: bool = Field(primary_key=True)
    status: str = Field(primary_key=True)
    number: int


class RatedCount(Table, table=True):
    """The number of rated conversations with a system in a run's completed assignments: `run_counts`."""

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
