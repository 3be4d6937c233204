"""The page of a report, made of an analysis."""

from qc.analysis import Analysis
from qc.render import tables
from qc.render.manifest import figures
from qc.render.page import page


def rendered(analysis: Analysis) -> str:
    """Return report.html, with the figures that stand on the page."""
    return page(analysis, tables(analysis), figures(analysis, beside=False))
