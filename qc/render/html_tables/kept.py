"""What was collected, and what is kept of it."""

from qc.analysis import Analysis
from qc.number_format import percent, whole
from qc.render.html_tables.html_table import Cell, Column, HtmlTable, html_table, one, two
from qc.render.tables import Tables
from qc.render.tables.named import GROUPS


def kept(analysis: Analysis, tables: Tables) -> dict[str, HtmlTable]:
    """Return what passed the filter, and the minutes that it took."""
    counts = html_table(
        tables["kept.csv"],
        Column("unit", "What"),
        *(Column(name, name.capitalize(), whole) for name in ("passed", "failed", "total")),
        Column("rate", "Pass rate", percent),
    )
    minutes = (two(getattr(analysis.minutes, group)) for group in GROUPS)
    cells = tuple(Cell(text) for text in ("minutes per conversation", *minutes, ""))
    return {"kept": HtmlTable(counts.heads, (*counts.rows, cells), counts.numeric)}


def workload(tables: Tables) -> dict[str, HtmlTable]:
    """Return how many assignments workers did."""
    columns = (
        Column("group", "Workers"),
        Column("workers", "Number", whole),
        Column("mean", "Mean", two),
        Column("median", "Median", one),
        Column("maximum", "Most", whole),
    )
    return {"workload": html_table(tables["workload.csv"], *columns)}


def incidents(tables: Tables) -> dict[str, HtmlTable]:
    """Return what went wrong with each system; nothing if the source does not say."""
    columns = (
        Column("system", "System"),
        Column("conversations", "Conversations begun", whole),
        Column("failed", "Failed", whole),
        Column("failed_share", "of them", percent),
        Column("replies", "Replies", whole),
        Column("errors", "Failed tries", whole),
        Column("overran", "Late", whole),
        Column("overran_share", "of them", percent),
        Column("gave_away", "Gave itself away", whole),
    )
    return {"incidents": html_table(tables["incidents.csv"], *columns)} if "incidents.csv" in tables else {}


def left_out(tables: Tables) -> dict[str, HtmlTable]:
    """Return the assignments that take no part."""
    columns = (Column("assignment", "Assignment"), Column("worker", "Worker"), Column("reason", "Reason"))
    return {"left out": html_table(tables["left_out.csv"], *columns)}
