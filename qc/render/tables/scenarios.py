"""Scores by scenario."""

from qc.method.scenarios import ScenarioScores
from qc.render.table import COUNT, INTERVAL, THREE, Column, Table


def scenarios(found: ScenarioScores) -> Table:
    """Return the scores by scenario; the row for all systems comes first."""
    columns = (
        Column("scenario", "Scenario"),
        Column("system", "System"),
        Column("z", "z", THREE),
        INTERVAL,
        Column("high", None, THREE),
        Column("n", "Conversations", COUNT),
        Column("workers", "Workers", COUNT),
    )
    shown = found.table.assign(system=found.table["system"].replace("", "all systems"))
    return Table(found.table, columns, shown)
