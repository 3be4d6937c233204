"""Figures of an analysis, as SVG. Importing this imports matplotlib, so it is left to those who draw."""

from qc.analysis import Analysis
from qc.render.figures.adjusted import adjusted_scores
from qc.render.figures.agreement import agreement
from qc.render.figures.alpha import alpha_influence
from qc.render.figures.context import context_effects
from qc.render.figures.criteria import criteria_correlation, criteria_profile
from qc.render.figures.effort import worker_effort
from qc.render.figures.figure import THEME, Drawing, Figure, finish
from qc.render.figures.persona import persona
from qc.render.figures.ranking import ranking, system_looks
from qc.render.figures.replication import replication
from qc.render.figures.significance import significance
from qc.render.figures.style import drawing
from qc.render.figures.topics import topic_words
from qc.render.figures.workers import worker_p_values
from qc.render.manifest import MadeFile, Make, of

__all__ = ["FIGURES", "THEME", "Figure", "figures"]

FigureFile = MadeFile[Drawing]


def _ranking(a: Analysis) -> Drawing | None:
    return ranking(a.scores, system_looks(a.run.systems), a.intervals)


def _replication(a: Analysis) -> Drawing | None:
    return replication(a.replication, system_looks(a.run.systems)) if a.replication else None


def _workers(a: Analysis) -> Drawing:
    return worker_p_values(a.sample.screening, a.filter_check)


def _alpha(a: Analysis) -> Drawing | None:
    looks = system_looks(a.run.systems)
    return alpha_influence(a.alpha, looks, a.sample.screening.alpha) if a.alpha else None


def _effort(a: Analysis) -> Drawing | None:
    return worker_effort(a.filter_check) if a.effort and a.filter_check else None


def _criteria(scale: str) -> Make[Drawing]:
    return of(lambda a: a.criteria, lambda found: criteria_correlation(found[scale], scale))


_ON_THE_PAGE: tuple[FigureFile, ...] = (
    FigureFile("ranking.svg", "overall z with intervals and ranges of ranks", _ranking),
    FigureFile(
        "significance.svg",
        "p of every two systems",
        of(lambda a: a.significance, significance),
        section="significance",
    ),
    FigureFile(
        "replication.svg", "overall z of each system in both runs", _replication, section="replication"
    ),
    FigureFile("worker-p-values.svg", "how p is distributed over the workers", _workers),
    FigureFile(
        "agreement.svg",
        "how r is distributed over pairs of workers",
        of(lambda a: a.agreement, agreement),
        section="agreement",
    ),
    FigureFile("alpha.svg", "scores and workers kept at other levels α", _alpha, section="alpha"),
    FigureFile(
        "persona.svg",
        "what a persona contributes in each family",
        of(lambda a: a.persona, persona),
        section="persona",
    ),
    FigureFile(
        "context.svg",
        "effects of position, time and topic",
        of(lambda a: a.context, context_effects),
        section="context",
    ),
    FigureFile(
        "adjusted.svg",
        "plain and adjusted scores",
        of(lambda a: a.adjusted, adjusted_scores),
        section="context",
    ),
    FigureFile(
        "topics.svg", "a word cloud of the topics", of(lambda a: a.topics, topic_words), section="topics"
    ),
    FigureFile(
        "effort.svg",
        "time and words of the workers; needs the section `filter`, too",
        _effort,
        section="effort",
    ),
)
# The page has these as coloured tables.
_BESIDE_THE_PAGE: tuple[FigureFile, ...] = (
    FigureFile("criteria-profile.svg", "z by criterion", lambda a: criteria_profile(a.scores)),
    FigureFile(
        "criteria-correlation-z.svg",
        "correlations between criteria from z",
        _criteria("z"),
        section="criteria",
    ),
    FigureFile(
        "criteria-correlation-raw.svg", "the same from raw scores", _criteria("raw"), section="criteria"
    ),
)
FIGURES = _ON_THE_PAGE + _BESIDE_THE_PAGE


def figures(analysis: Analysis, *, beside: bool = True) -> dict[str, Figure]:
    """Return the figures of `analysis` by name, in the order in which they are read.

    A figure whose part of the analysis is None, or holds no number to draw, is left out. The same analysis
    gives the same bytes.

    Args:
        analysis: the results.
        beside: whether to draw those, too, that the page has not, because it has them as coloured tables.
    """
    with drawing():
        made = ((file.stem, file.make(analysis)) for file in (FIGURES if beside else _ON_THE_PAGE))
        return {name: finish(name, each) for name, each in made if each is not None}
