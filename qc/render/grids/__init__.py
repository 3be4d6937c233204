"""The tables of the page by name, section by section."""

from qc.analysis import Analysis
from qc.render.grids.context import adjusted, context, persona
from qc.render.grids.correlations import criteria, forecast, replication
from qc.render.grids.grid import SHOWN_ROWS, Grid
from qc.render.grids.kept import incidents, kept, left_out, workload
from qc.render.grids.ranking import ranking, scores
from qc.render.grids.significance import differences, significance
from qc.render.grids.words import effort, topics
from qc.render.grids.workers import agreement, alpha, everyone, workers
from qc.render.tables import Tables

__all__ = ["SHOWN_ROWS", "Grid", "grids"]


def grids(analysis: Analysis, tables: Tables) -> dict[str, Grid]:
    """Return the tables of the page by name; one whose section was not computed, or is empty, is absent."""
    of_analysis = (ranking, scores, significance, criteria, replication, forecast)
    of_tables = (differences, everyone, agreement, alpha, persona, context, adjusted, topics, effort)
    found = [part(analysis) for part in of_analysis]
    found += [part(tables) for part in (*of_tables, workload, incidents, left_out)]
    found += [kept(analysis, tables), workers(analysis)]
    return {name: grid for part in found for name, grid in part.items() if grid.rows}
