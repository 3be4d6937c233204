"""Tables of ratings of single replies."""

from qc.method.turn_ratings import TurnRatings
from qc.render.table import COUNT, INTERVAL, ONE, SHARE, Column, Table
from qc.render.tables.ranking import CEILING


def turn_ratings(found: TurnRatings) -> Table:
    """Return the ratings of the replies of each system."""
    columns = (
        Column("system", "System"),
        Column("mean", "Mean", ONE),
        Column("low", INTERVAL.head, ONE, upper="high"),
        Column("high", None, ONE),
        Column("rated", "Rated", COUNT),
        Column("rated_share", "Of the replies", SHARE),
        Column("workers", "Workers", COUNT),
    )
    marked = found.systems["system"].where(~found.systems["human"], found.systems["system"] + CEILING)
    return Table(found.systems, columns, found.systems.assign(system=marked))
