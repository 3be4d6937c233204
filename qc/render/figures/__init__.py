"""Figures of an analysis, as SVG. Importing this imports matplotlib, so it is left to those who draw."""

from collections.abc import Iterator

from qc.analysis import Analysis
from qc.render.figures.adjusted import adjusted_scores
from qc.render.figures.agreement import agreement
from qc.render.figures.alpha import alpha_influence
from qc.render.figures.context import context_effects
from qc.render.figures.criteria import criteria_correlation, criteria_profile
from qc.render.figures.effort import worker_effort
from qc.render.figures.figure import THEME, Figure
from qc.render.figures.persona import persona
from qc.render.figures.ranking import ranking, system_looks
from qc.render.figures.replication import replication
from qc.render.figures.significance import significance
from qc.render.figures.style import drawing
from qc.render.figures.topics import topic_words
from qc.render.figures.workers import worker_p_values

__all__ = ["THEME", "Figure", "figures"]


def figures(analysis: Analysis) -> dict[str, Figure]:
    """Return the figures of `analysis` by name, in the order in which they are read.

    A figure whose part of the analysis is None, or holds no number to draw, is left out. The same analysis
    gives the same bytes.
    """
    with drawing():
        return {figure.name: figure for figure in _drawn(analysis) if figure}


def _drawn(analysis: Analysis) -> Iterator[Figure | None]:
    screening, scores = analysis.sample.screening, analysis.scores
    looks = system_looks(analysis.run.systems)
    yield ranking(scores, looks, analysis.intervals)
    if analysis.significance:
        yield significance(analysis.significance)
    yield criteria_profile(scores)
    if analysis.replication:
        yield replication(analysis.replication, looks)
    yield worker_p_values(screening, analysis.filter_check)
    if analysis.filter_check:
        yield worker_effort(analysis.filter_check)
    if analysis.agreement:
        yield agreement(analysis.agreement)
    if analysis.alpha:
        yield alpha_influence(analysis.alpha, looks, screening.alpha)
    if analysis.persona:
        yield persona(analysis.persona)
    if analysis.context:
        yield context_effects(analysis.context)
    if analysis.adjusted:
        yield adjusted_scores(analysis.adjusted)
    if analysis.criteria:
        for scale, correlation in analysis.criteria.items():
            yield criteria_correlation(correlation, scale)
    if analysis.topics:
        yield topic_words(analysis.topics)
