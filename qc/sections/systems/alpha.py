"""Influence of the level α of the filter on the scores."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.drawing.charts import limits
from qc.drawing.panel import Panel, Scale, round_ticks, spread, tick_labels
from qc.drawing.sheet import Drawing, Sheet
from qc.drawing.style import BLUE, GAP, MUTED, WIDE, shortened, text_width
from qc.robustness.filter_check import AlphaInfluence, alpha_influence
from qc.sections import schema
from qc.sections.analysis import Analysis
from qc.sections.section import MadeFile, Part, Section
from qc.sections.systems.ranking import Look, Looks, system_looks
from qc.table import COUNT, THREE, Column, Table, decimal, whole


def levels(found: AlphaInfluence, kept: str) -> Table:
    """Return the results at other levels of the filter; `kept` is the heading of the kept data."""
    rows = [
        (level.alpha, level.workers, level.conversations, level.ranking_rho, level.replication_r, *level.z)
        for level in found.levels
    ]
    keys = ["alpha", "workers", "conversations", "ranking_rho", "replication_r"]
    frame = pd.DataFrame(rows, columns=[*keys, *(f"z {system}" for system in found.systems)])
    columns = [
        Column("level", "α"),
        Column("workers", "Workers kept", COUNT),
        Column("conversations", kept, COUNT),
        Column("ranking_rho", "ρ with this ranking", THREE),
    ]
    if frame["replication_r"].notna().any():
        columns.append(Column("replication_r", "r with the second run", THREE))
    return Table(frame, tuple(columns), frame.assign(level=[f"{level:g}" for level in frame["alpha"]]))


LEFT, HEAD, BETWEEN, FOOT = 62.0, 34.0, 46.0, 56.0
LINE, LOW_PANEL, LEADER = 18.0, 90.0, 18.0
FEWEST_LINES = 14
Array = NDArray[np.float64]
# Width of the longest names, as a share of the figure's width.
NAME = 0.27


class Steps(NamedTuple):
    """Content of a lower panel: its title, (levels,) values, and their number of digits."""

    title: str
    values: Array
    digits: int

    @property
    def ticks(self) -> list[float]:
        """The lowest and the highest value."""
        finite = self.values[np.isfinite(self.values)]
        return sorted({float(finite.min()), float(finite.max())})

    @property
    def scale(self) -> Scale:
        """A scale that includes all values, with room at both ends."""
        low, high = self.ticks[0], self.ticks[-1]
        room = (high - low) * 0.25 or abs(high) * 0.05 or 1.0
        return Scale(low - room, high + room)


def draw_levels(result: AlphaInfluence, looks: Looks, chosen: float) -> Drawing | None:
    """Draw, against α, the scores, the workers kept and, if given, the correlation with a second run.

    None if no system has a score at any level.

    Args:
        result: the levels.
        looks: colour, marker and filling of each system.
        chosen: the level of the analysis.
    """
    alphas = np.array([level.alpha for level in result.levels])
    z = np.array([level.z for level in result.levels]).reshape(len(alphas), len(result.systems))
    if not np.isfinite(z).any():
        return None
    lower = [Steps("workers kept", np.array([float(level.workers) for level in result.levels]), 0)]
    r = np.array([level.replication_r for level in result.levels])
    if np.isfinite(r).any():
        lower.append(Steps("r with the second run", r, 3))
    alt = _alt(result)
    inside = bool(alphas[0] <= chosen <= alphas[-1])
    outside = "" if inside else f"The chosen α = {chosen:g} lies outside."

    def draw(width: float) -> Sheet:
        names = [shortened(name, NAME * width) for name in result.systems]
        right = max(text_width(name) for name in names) + LEADER + GAP
        height = max(FEWEST_LINES, len(names) + 1) * LINE
        page = Sheet(width, HEAD + height + (BETWEEN + LOW_PANEL) * len(lower) + FOOT)
        across = Scale(alphas[0] - 0.003, alphas[-1] + 0.003)
        inner = width - LEFT - right
        top = Panel(page, LEFT, HEAD, inner, height, across, Scale(*limits(z)))
        panels = [top]
        for each in lower:
            below = panels[-1].bottom + BETWEEN
            panels.append(Panel(page, LEFT, below, inner, LOW_PANEL, across, each.scale))
        _scores(top, alphas, z, names, [looks[name] for name in result.systems])
        for panel, each in zip(panels[1:], lower, strict=True):
            _steps(panel, alphas, each)
        ticks = round_ticks(across.first, across.last, 5 if width >= WIDE else 3)
        for panel in panels[:-1]:
            panel.x_axis([], [])
        panels[-1].x_axis(ticks, tick_labels(ticks), "level α of the worker filter")
        if inside:
            _mark(panels, chosen)
        else:
            page.text((LEFT, 14), outside, MUTED)
        return page

    return Drawing("Influence of the level α", f"{alt} {outside}".strip(), draw)


def _scores(panel: Panel, alphas: Array, z: Array, names: list[str], looks: list[Look]) -> None:
    ticks = round_ticks(panel.y.first, panel.y.last, 6)
    panel.y_axis(ticks, tick_labels(ticks), "overall z")
    for j, (colour, marker, filled) in enumerate(looks):
        panel.line(alphas, z[:, j], colour, 1.8, "" if filled else "7 3")
        panel.points(alphas, z[:, j], colour, marker, filled=filled)
    known = np.flatnonzero(np.isfinite(z[-1]))
    span = panel.y.last - panel.y.first
    heights = spread(z[-1, known], span * LINE / panel.height)
    for i, y in zip(known.tolist(), heights.tolist(), strict=True):
        end, label = panel.at(alphas[-1], z[-1, i]), (panel.right + LEADER, panel.at(0, y)[1])
        panel.page.line([(end[0] + 6, end[1]), (label[0] - 3, label[1])], looks[i][0])
        panel.page.beside(label, names[i])


def _steps(panel: Panel, alphas: Array, steps: "Steps") -> None:
    panel.y_axis(steps.ticks, [decimal(tick, steps.digits) for tick in steps.ticks], steps.title)
    panel.line(alphas, steps.values, BLUE)
    panel.points(alphas, steps.values, BLUE)


def _mark(panels: list[Panel], chosen: float) -> None:
    for panel in panels:
        panel.vertical(chosen, MUTED, 1.5, "6 3")
    at = panels[0].at(chosen, panels[0].y.last)
    panels[0].page.text((at[0], at[1] - 12), "chosen", MUTED, anchor="middle")


def _alt(result: AlphaInfluence) -> str:
    first, last = result.levels[0], result.levels[-1]
    rho = [level.ranking_rho for level in result.levels if np.isfinite(level.ranking_rho)]
    sure = f"; the ranking correlates with the chosen one by at least {decimal(min(rho))}" if rho else ""
    return (
        f"Lines of overall z against α: from α = {first.alpha:g} to {last.alpha:g} the workers kept go from "
        f"{whole(first.workers)} to {whole(last.workers)}{sure}."
    )


_ALPHA_INFLUENCE_SCHEMA = schema.record(
    "What another level of the filter would change.",
    systems=schema.array("The order of every `z`.", schema.text()),
    levels=schema.rows(
        "Levels, the strictest first.",
        alpha=schema.number("The level."),
        workers=schema.integer("Who pass."),
        conversations=schema.integer("Their conversations with systems."),
        z=schema.array("Overall z.", schema.number(null=True)),
        ranking_rho=schema.number("Spearman's ρ with the ranking of this report.", null=True),
        replication_r=schema.number("Pearson's r with the second run at the same level.", null=True),
    ),
)


def _table(analysis: Analysis) -> Table | None:
    unit = "Conversations" if analysis.chatted else "Judgments"
    return levels(analysis.alpha, unit) if analysis.alpha else None


def _draw(analysis: Analysis) -> Drawing | None:
    looks = system_looks(analysis.run.systems)
    chosen = analysis.sample.screening.alpha
    return draw_levels(analysis.alpha, looks, chosen) if analysis.alpha else None


INFLUENCE = Part(
    kind=AlphaInfluence,
    make=lambda a: alpha_influence(a.sample, a.scores, a.second),
    key="alpha_influence",
    option="alpha",
    schema=_ALPHA_INFLUENCE_SCHEMA,
)

SECTION = Section(
    id="alpha",
    title="The level α",
    parts=(INFLUENCE,),
    tables=(MadeFile("alpha.csv", "what another level α would change", _table, option="alpha"),),
    figures=(MadeFile("alpha.svg", "scores and workers kept at other levels α", _draw, option="alpha"),),
    page="""\
{% call drawing("alpha", "Scores at other levels of the filter.") %}
Each line is a system. Lines that do not cross mean that the ranking does not hang on the level.
{% endcall %}
<details>
<summary>The levels as a table</summary>
{% call table("alpha.csv", "What another level of the filter would change.") %}
A stricter level (smaller α) keeps fewer workers. ρ compares the ranking with the one of this report; the \
scores themselves are in <code>alpha.csv</code>.
{% endcall %}
</details>
""",
)
