"""The paper kit of several runs side by side: tables, the figure from run to run, a paragraph."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure as Sheet

from qc.comparison.several_runs import SeveralRuns
from qc.drawing.charts import limits
from qc.drawing.panel import spread
from qc.drawing.style import MUTED
from qc.options import OnStep
from qc.paper.kit import Kit, write_kit
from qc.paper.methods import CAMERON, JI
from qc.paper.sheet import (
    POINTS,
    ROW,
    TEXT,
    PaperFigure,
    drawn,
    fitting,
    name_within,
    point,
    text_width,
)
from qc.paper.tex import escaped, paper_table
from qc.render.figures import asides, look
from qc.render.findings import Findings
from qc.table import listed, whole

LEFT, HEAD, UNDER, FEWEST_ROWS = 0.48, 0.06, 0.2, 8
# Distances: between the names of two runs; from the last run's edge to a system's name.
GAP, LEADER = 0.04, 0.16
BEFORE, AFTER = -0.35, 0.25  # margins left of the first and right of the last run, in distances of two runs


def longitudinal(found: SeveralRuns, width: float) -> Sheet | None:
    """Draw the overall z of every system in every run, with its interval; None if no system has a score."""
    if not np.isfinite(found.z).any():
        return None
    count, runs = found.z.shape
    rows = max(count, FEWEST_ROWS)
    height = ROW * rows + UNDER + HEAD
    sheet = Sheet(figsize=(width, height))
    names = [name_within(name, width) for name in found.systems]
    reserved = max(text_width(name, TEXT - 1) for name in names) / POINTS + LEADER + GAP
    inner = width - LEFT - reserved
    axes = sheet.add_axes((LEFT / width, UNDER / height, inner / width, ROW * rows / height))
    low, high = limits(np.concatenate([found.z, found.low, found.high]).ravel())
    axes.set(xlim=(BEFORE, runs - 1 + AFTER), ylim=(low, high), ylabel="overall z")
    room = (inner / runs - GAP) * POINTS
    axes.set_xticks(range(runs), [fitting(name, room, TEXT - 1) for name in found.names])
    axes.grid(axis="y")
    axes.axhline(0, color=MUTED, linewidth=0.6, zorder=1)
    moved = asides(count)
    for number in range(count):
        across, (colour, marker) = np.arange(runs) + moved[number], look(number)
        axes.plot(across, found.z[number], color=colour, zorder=2)
        axes.vlines(across, found.low[number], found.high[number], color=colour, linewidth=0.8, zorder=2)
        for x, z in zip(across.tolist(), found.z[number].tolist(), strict=True):
            point(axes, x, z, (colour, marker, True))
    known = np.flatnonzero(np.isfinite(found.z).any(axis=1))
    last = runs - 1 - np.argmax(np.isfinite(found.z[known])[:, ::-1], axis=1)
    heights = spread(found.z[known, last], (high - low) / rows)
    away = LEADER * (runs - 1 + AFTER - BEFORE) / inner
    for number, run, label in zip(known.tolist(), last.tolist(), heights.tolist(), strict=True):
        edge = runs - 1 + AFTER + away
        way = [run + moved[number], edge], [found.z[number, run], label]
        axes.plot(*way, color=look(number)[0], linewidth=0.5, linestyle=":", clip_on=False, zorder=1)
        axes.text(edge, label, names[number], va="center_baseline", size=TEXT - 1)
    return sheet


# The tables for a paper, and whether they span both columns.
_TABLES = {"scores": True, "agreement": True, "runs": True}
_FIGURE = "runs-scores"
_CAPTIONS = {_FIGURE: "Overall scores of the systems from run to run; vertical lines are intervals of 95\\%."}


def write_runs_paper(
    found: SeveralRuns,
    shown: Findings,
    directory: Path,
    formats: frozenset[str],
    on_step: OnStep,
) -> list[Path]:
    """Write the kit of several runs.

    Args:
        found: the runs side by side.
        shown: the same as tables and words.
        directory, formats, on_step: as for `write_kit`; so are the result and the errors.
    """

    def draw() -> Iterator[PaperFigure]:
        return drawn({_FIGURE: partial(longitudinal, found)}, shown.signature)

    kit = Kit(
        title=f"{whole(len(found.names))} runs of a human evaluation",
        methods=_methods(found, shown),
        tables=tuple(
            paper_table(f"runs-{each.name}", each.table, escaped(f"{each.title}. {each.text}"), wide=wide)
            for each in shown.tables
            if (wide := _TABLES.get(each.name)) is not None and len(each.table.frame)
        ),
        captions=_CAPTIONS,
        draw=draw,
        texts={},
        signature=shown.signature,
    )
    return write_kit(kit, directory, formats, on_step)


def _methods(found: SeveralRuns, shown: Findings) -> str:
    passed, workers = (found.runs[name].tolist() for name in ("passed", "workers"))
    kept = [f"{whole(some)} of {whole(of)}" for some, of in zip(passed, workers, strict=True)]
    sentences = [
        f"The evaluation was held {whole(len(found.names))} times ({escaped(listed(found.names, 20))}) after "
        rf"\cite{{{JI}}}; {escaped(listed(kept, 20))} workers passed quality control.",
        "Each run was filtered and standardised for itself; intervals of scores are from a wild bootstrap of "
        rf"whole workers \cite{{{CAMERON}}}.",
        *(escaped(sentence) for sentence in shown.verdict),
        "Intervals of correlations are Fisher's, over systems like these.",
    ]
    return "\n".join(sentences) + "\n"
