"""The tables of the page by name, section by section."""

from qc.analysis import Analysis
from qc.render.html_tables.context import adjusted, context, persona
from qc.render.html_tables.correlations import criteria, forecast, replication
from qc.render.html_tables.html_table import SHOWN_ROWS, HtmlTable
from qc.render.html_tables.kept import incidents, kept, left_out, workload
from qc.render.html_tables.ranking import ranking, scores
from qc.render.html_tables.significance import differences, significance
from qc.render.html_tables.words import effort, topics
from qc.render.html_tables.workers import agreement, alpha, everyone, workers
from qc.render.tables import Tables

__all__ = ["SHOWN_ROWS", "HtmlTable", "html_tables"]


def html_tables(analysis: Analysis, tables: Tables) -> dict[str, HtmlTable]:
    """Return the tables of the page by name; one whose section was not computed, or is empty, is absent."""
    of_analysis = (ranking, scores, significance, criteria, replication, forecast)
    of_tables = (differences, everyone, agreement, alpha, persona, context, adjusted, topics, effort)
    found = [part(analysis) for part in of_analysis]
    found += [part(tables) for part in (*of_tables, workload, incidents, left_out)]
    found += [kept(analysis, tables), workers(analysis)]
    return {name: html_table for part in found for name, html_table in part.items() if html_table.rows}
