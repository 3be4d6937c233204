"""Figures of an analysis, as SVG, in two widths."""

from qc.analysis import Analysis
from qc.render.drawing.figure import THEME, Drawing, Figure, finish
from qc.render.figures.agreement import agreement, repeats, worker_effort
from qc.render.figures.alpha import alpha_influence
from qc.render.figures.context import adjusted_scores, context_effects, persona
from qc.render.figures.criteria import criteria_correlation, criteria_profile
from qc.render.figures.ranking import ranking, system_looks
from qc.render.figures.replication import replication
from qc.render.figures.significance import significance
from qc.render.figures.topics import pasted_shares, topic_words
from qc.render.figures.workers import worker_p_values
from qc.render.manifest import (
    ADJUSTED,
    AGREEMENT,
    CONTEXT,
    CRITERIA,
    PERSONA,
    REPEATS,
    SIGNIFICANCE,
    TOPICS,
    WHOLE,
    WRITING,
    MadeFile,
)

__all__ = ["FIGURES", "THEME", "Figure", "figures"]


def _ranking(a: Analysis) -> Drawing | None:
    return ranking(a.scores, system_looks(a.run.systems), a.intervals)


def _replication(a: Analysis) -> Drawing | None:
    return replication(a.replication, system_looks(a.run.systems)) if a.replication else None


def _alpha(a: Analysis) -> Drawing | None:
    looks = system_looks(a.run.systems)
    return alpha_influence(a.alpha, looks, a.sample.screening.alpha) if a.alpha else None


def _effort(a: Analysis) -> Drawing | None:
    return worker_effort(a.filter_check) if a.effort and a.filter_check else None


def _bad(a: Analysis) -> str:
    return "the bad bot" if a.run.items is None else "bad twins"


_ON_THE_PAGE: tuple[MadeFile[Drawing], ...] = (
    MadeFile("ranking.svg", "overall z with intervals and ranges of ranks", _ranking),
    SIGNIFICANCE.file("significance.svg", "p of every two systems", significance),
    MadeFile("replication.svg", "overall z in both runs", _replication, section="replication"),
    WHOLE.file(
        "worker-p-values.svg",
        "how p is distributed over the workers",
        lambda a: worker_p_values(a.sample.screening, a.filter_check, _bad(a)),
    ),
    REPEATS.file("repeats.svg", "how workers’ correlations with themselves are distributed", repeats),
    AGREEMENT.file("agreement.svg", "how r is distributed over pairs of workers", agreement),
    MadeFile("alpha.svg", "scores and workers kept at other levels α", _alpha, section="alpha"),
    PERSONA.file("persona.svg", "what a persona contributes in each family", persona),
    CONTEXT.file("context.svg", "effects of position, time and topic", context_effects),
    ADJUSTED.file("adjusted.svg", "plain and adjusted scores", adjusted_scores),
    TOPICS.file("topics.svg", "a word cloud of the topics", topic_words),
    WRITING.file("writing.svg", "how the share of pasted characters is distributed", pasted_shares),
    MadeFile("effort.svg", "time and words of the workers; also needs `filter`", _effort, section="effort"),
)
# Figures not drawn on the page, which has them as coloured tables.
_BESIDE_THE_PAGE: tuple[MadeFile[Drawing], ...] = (
    WHOLE.file("criteria-profile.svg", "z by criterion", lambda a: criteria_profile(a.scores)),
    CRITERIA.file(
        "criteria-correlation-z.svg",
        "correlations between criteria from z",
        lambda c: criteria_correlation(c["z"], "z"),
    ),
    CRITERIA.file(
        "criteria-correlation-raw.svg",
        "the same from raw scores",
        lambda c: criteria_correlation(c["raw"], "raw"),
    ),
)
FIGURES = _ON_THE_PAGE + _BESIDE_THE_PAGE


def figures(analysis: Analysis, *, beside: bool = True) -> dict[str, Figure]:
    """Return the figures of `analysis` by name, in reading order.

    A figure is left out if its part of the analysis is None or has no number to draw. The same analysis
    always gives the same bytes.

    Args:
        analysis: the results.
        beside: also draw the figures that the page shows as coloured tables instead.
    """
    made = ((file.stem, file.make(analysis)) for file in (FIGURES if beside else _ON_THE_PAGE))
    return {name: finish(name, each) for name, each in made if each is not None}
