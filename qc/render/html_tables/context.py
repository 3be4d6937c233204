"""What moves scores besides the system."""

from qc.number_format import decimal, probability, whole
from qc.render.html_tables.html_table import Column, HtmlTable, Span, html_table
from qc.render.tables import Tables


def persona(tables: Tables) -> dict[str, HtmlTable]:
    """Return what a persona contributes."""
    if "persona.csv" not in tables:
        return {}
    columns = (
        Column("family", "Family"),
        Column("z_without", "z without", decimal),
        Column("z_with", "z with", decimal),
        Column("difference", "Difference", decimal),
        Span(),
        Column("p", "p", probability),
        Column("p_rank_sum", "p, rank sum", probability),
    )
    return {"persona": html_table(tables["persona.csv"], *columns)}


def context(tables: Tables) -> dict[str, HtmlTable]:
    """Return the effects of order and context."""
    if "context.csv" not in tables:
        return {}
    columns = (
        Column("effect", "Effect"),
        Column("level", "Level"),
        Column("n", "Conversations", whole),
        Column("mean", "Mean", decimal),
        Span(),
    )
    return {"context": html_table(tables["context.csv"], *columns)}


def adjusted(tables: Tables) -> dict[str, HtmlTable]:
    """Return the scores adjusted for order and context, and the model behind them."""
    if "adjusted.csv" not in tables:
        return {}
    scores = (
        Column("system", "System"),
        Column("plain", "z, plain", decimal),
        Column("adjusted", "z, adjusted", decimal),
        Span(head="95 % interval, adjusted"),
    )
    terms = (
        Column("term", "Term"),
        Column("estimate", "Estimate", decimal),
        Column("se", "Standard error", decimal),
        Column("p", "p", probability),
    )
    return {
        "adjusted": html_table(tables["adjusted.csv"], *scores),
        "coefficients": html_table(tables["adjusted_coefficients.csv"], *terms),
    }
