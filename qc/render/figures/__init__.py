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


def figures(analysis: Analysis, *, beside: bool = True) -> dict[str, Figure]:
    """Return the figures of `analysis` by name, in the order in which they are read.

    A figure whose part of the analysis is None, or holds no number to draw, is left out. The same analysis
    gives the same bytes.

    Args:
        analysis: the results.
        beside: whether to draw those, too, that the page has not, because it has them as coloured tables.
    """
    with drawing():
        drawn = [*_of_the_page(analysis), *(_beside_the_page(analysis) if beside else ())]
        return {figure.name: figure for figure in drawn if figure}


def _of_the_page(analysis: Analysis) -> Iterator[Figure | None]:
    screening, scores = analysis.sample.screening, analysis.scores
    looks = system_looks(analysis.run.systems)
    yield ranking(scores, looks, analysis.intervals)
    if analysis.significance:
        yield significance(analysis.significance)
    if analysis.replication:
        yield replication(analysis.replication, looks)
    yield worker_p_values(screening, analysis.filter_check)
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
    if analysis.topics:
        yield topic_words(analysis.topics)
    if analysis.effort and analysis.filter_check:
        yield worker_effort(analysis.filter_check)


def _beside_the_page(analysis: Analysis) -> Iterator[Figure | None]:
    yield criteria_profile(analysis.scores)
    for scale, correlation in (analysis.criteria or {}).items():
        yield criteria_correlation(correlation, scale)
