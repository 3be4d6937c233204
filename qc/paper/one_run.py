"""The tables and figures for a paper on one run, with their captions."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as Sheet
from numpy.typing import NDArray

from qc.analysis import Analysis
from qc.drawing.charts import limits
from qc.drawing.style import MUTED, RULE
from qc.method.replication import Replication
from qc.method.scores import raters_of
from qc.options import OnStep
from qc.paper.datasheet import datasheet
from qc.paper.heds_form import heds_form
from qc.paper.kit import Kit, write_kit
from qc.paper.methods import interval_of_r, methods_paragraph, workers_of_both
from qc.paper.sheet import (
    FOOT,
    NAMES,
    POINTS,
    ROW,
    TEXT,
    PaperFigure,
    drawn,
    label_points,
    name_within,
    parts_within,
    point,
    text_width,
)
from qc.paper.tex import PaperTable, escaped, paper_table
from qc.robustness.intervals import Intervals
from qc.sections.systems import ranking, scores
from qc.sections.systems.ranking import PERSONA_KEY, Looks, system_looks
from qc.sections.workers import screening
from qc.table import (
    COUNT,
    INTERVAL,
    OVERALL,
    SIGNIFICANT,
    SYSTEM_COLUMN,
    THREE,
    TWO,
    WRITTEN,
    Column,
    Table,
    decimal,
    percent,
    ranks,
    whole,
)

# The leader's interval is another than the rest (`qc.robustness.intervals.Leader`).
LEADER_INTERVAL = "The interval of the first allows for its having been picked as the highest score."
# Inches above the axes of a figure without a key.
NO_KEY = 0.05


def paper_tables(analysis: Analysis) -> Iterator[PaperTable]:
    """Yield the tables for which the analysis has numbers, in the order of a paper."""
    yield paper_table("ranking", _ranking(analysis), _ranking_caption(analysis), wide=True)
    yield paper_table("scores", ranking.z_scores(analysis), _scores_caption(analysis), wide=True)
    yield paper_table("pass-rates", screening.kept(analysis), _kept_caption(analysis))
    if analysis.criteria is not None:
        caption = (
            "Correlations between the criteria over the systems, from $z$: Pearson's $r$ above the diagonal, "
            r"Spearman's $\rho$ below."
        )
        yield paper_table("criteria", scores.correlations(analysis.criteria["z"], "z"), caption, wide=True)
    if (found := analysis.replication) is not None:
        yield paper_table("replication", _replication(found), _replication_caption(found))


def _ranking(analysis: Analysis) -> Table:
    scores, found = analysis.scores.z, analysis.intervals
    rows = scores[["system", OVERALL]].assign(
        raw=analysis.scores.raw[OVERALL],
        held=scores["n"] // len(analysis.run.criteria),
        raters=raters_of(analysis.sample, analysis.scores),
    )
    columns = [SYSTEM_COLUMN, Column(OVERALL, "z", THREE)]
    if found is not None:
        rows = rows.assign(
            low=found.z_low[:, 0],
            high=found.z_high[:, 0],
            rank=list(map(ranks, found.rank_low.tolist(), found.rank_high.tolist())),
            group=[_group_of(name, found) for name in scores["system"]],
        )
        columns += [INTERVAL, Column("rank", "Rank", WRITTEN), Column("group", "Group", WRITTEN)]
    held = "Conv." if analysis.run.items is None else "Judgments"
    columns += [Column("raw", "Raw", TWO), Column("held", held, COUNT), Column("raters", "Raters", COUNT)]
    return Table(rows, tuple(columns))


def _group_of(system: str, found: Intervals) -> str:
    numbers = (number for number, group in enumerate(found.groups, start=1) if system in group)
    return str(next(numbers, "–"))


def _ranking_caption(analysis: Analysis) -> str:
    parts = ["Overall scores of the systems, best first: $z$ standardised by worker, Raw as rated."]
    if (found := analysis.intervals) is not None:
        level, count = escaped(percent(found.level, 0)), escaped(whole(found.count))
        parts.append(
            f"Intervals ({level}) are from a wild bootstrap of whole workers with {count} draws. Every "
            "system of a group is told apart from all systems of later groups by intervals of all "
            "differences that hold together, from which the ranges of ranks follow."
        )
        parts.append(LEADER_INTERVAL)
    return " ".join(parts)


def _scores_caption(analysis: Analysis) -> str:
    reversed_ = analysis.run.criteria.loc[analysis.run.criteria["negative"], "label"]
    negative = f" Ratings of {escaped(', '.join(reversed_))} were reversed." if len(reversed_) else ""
    return f"Scores ($z$) by criterion; higher is better for all of them.{negative}"


def _kept_caption(analysis: Analysis) -> str:
    return f"What passed quality control at $\\alpha = {analysis.sample.screening.alpha:g}$."


def _replication(found: Replication) -> Table:
    names = [OVERALL, *found.labels]
    coefficients = {
        "pearson": found.z.pearson,
        "spearman": found.z.spearman,
        "kendall": found.z.kendall,
    }
    rows = pd.DataFrame(
        {"criterion": names, **{key: [r[name] for name in names] for key, r in coefficients.items()}}
    )
    heads = (Column(key, sign, THREE) for key, sign in zip(coefficients, ("r", "ρ", "τ"), strict=True))
    return Table(rows, (Column("criterion", "Criterion"), *heads))


def _replication_caption(found: Replication) -> str:
    same = found.same_conclusions
    pairs = (
        f"Both runs draw the same conclusion on {whole(same.n)} of {whole(same.of)} pairs of systems "
        f"($p < {same.alpha:g}$)."
    )
    return (
        f"Correlations of the scores ($z$) of {whole(len(found.systems))} systems in two runs: "
        rf"Pearson's $r$, Spearman's $\rho$, Kendall's $\tau$. {_interval_of_r(found)}{pairs} "
        f"{workers_of_both(found)}"
    )


def _interval_of_r(found: Replication) -> str:
    known = interval_of_r(found)
    return f"The {known} of the overall $r$ is Fisher's, over systems like these. " if known else ""


def paper_figures(analysis: Analysis) -> Iterator[PaperFigure]:
    """Yield every figure for which the analysis has numbers."""
    drawers = {"ranking": _ranking_figure, "significance": _significance, "replication": _replication_figure}
    return drawn({name: partial(draw, analysis) for name, draw in drawers.items()}, analysis.signature)


def _ranking_figure(analysis: Analysis, width: float) -> Sheet | None:
    names = [str(name) for name in analysis.scores.z["system"]]
    z = analysis.scores.z["overall"].to_numpy(np.float64)
    if not np.isfinite(z).any():
        return None
    found, looks = analysis.intervals, system_looks(analysis.run.systems)
    unknown = np.full(len(z), np.nan)
    low, high = (unknown, unknown) if found is None else (found.z_low[:, 0], found.z_high[:, 0])
    head = _head(looks, names)
    height = ROW * len(names) + FOOT + head
    sheet = Sheet(figsize=(width, height))
    axes = sheet.add_axes((NAMES, FOOT / height, 0.98 - NAMES, ROW * len(names) / height))
    _write_key(sheet, head)
    axes.set(ylim=(len(names) - 0.5, -0.5), xlim=limits(np.concatenate([z, low, high])))
    axes.set_yticks(range(len(names)), [name_within(name, width) for name in names])
    axes.set_xlabel("overall score (z)")
    axes.grid(axis="x")
    axes.axvline(0, color=MUTED, linewidth=0.6, zorder=1)
    for i, name in enumerate(names):
        if np.isfinite([low[i], high[i]]).all():
            axes.plot([low[i], high[i]], [i, i], color=looks[name][0], zorder=2)
        point(axes, z[i], i, looks[name])
    return sheet


def _head(looks: Looks, names: Sequence[str]) -> float:
    """Return the height above the axes: with a line for the key if filled points differ from hollow ones."""
    return ROW if len({looks[name][2] for name in names}) > 1 else NO_KEY


def _write_key(sheet: Sheet, head: float) -> None:
    if head > NO_KEY:
        key = "  ".join(f"{mark} {text}" for mark, _, text in PERSONA_KEY)
        sheet.text(
            0.98, 1 - 0.02 / sheet.get_figheight(), key, ha="right", va="top", size=TEXT - 1, color=MUTED
        )


def _significance(analysis: Analysis, width: float) -> Sheet | None:
    tests = analysis.significance
    if tests is None or not np.isfinite(tests.p[~np.eye(len(tests.systems), dtype=bool)]).any():
        return None
    names, count = tests.systems, len(tests.systems)
    side = width * (0.98 - NAMES)
    cell = min(side / count, 0.3)
    shades = (
        f"dark: p < {SIGNIFICANT:g} by worker, with Holm",
        f"grey: published p < {SIGNIFICANT:g}",
        "light: neither",
    )
    legend = parts_within(shades, 0.96 * width * POINTS, TEXT - 1)
    below = (2 + legend.count("\n")) * ROW
    height = cell * count + below + 0.1
    sheet = Sheet(figsize=(width, height))
    axes = sheet.add_axes((NAMES, below / height, cell * count / width, cell * count / height))
    axes.imshow(_shades(tests.p, tests.by_worker_holm), aspect="auto")
    axes.set_yticks(range(count), [name_within(f"{name}  {i}", width) for i, name in enumerate(names, 1)])
    axes.set_xticks(range(count), [str(i) for i in range(1, count + 1)])
    axes.spines[:].set_visible(False)
    sheet.text(0.98, 0.02 / height, legend, ha="right", va="bottom", size=TEXT - 1, color=MUTED)
    return sheet


def _shades(p: NDArray[np.float64], by_worker: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return, (S, S, 3), the colour of each ordered pair; the colours also differ in greyscale."""
    shades = np.full((*p.shape, 3), 0.95)
    off = ~np.eye(len(p), dtype=bool)
    shades[(p < SIGNIFICANT) & off] = 0.65
    shades[(by_worker < SIGNIFICANT) & off] = (0.0, 0.24, 0.4)
    shades[~off | np.isnan(p)] = 1.0
    return shades


def _replication_figure(analysis: Analysis, width: float) -> Sheet | None:
    found = analysis.replication
    points = None if found is None else found.points.dropna(subset=["first", "second"])
    if found is None or points is None or points.empty:
        return None
    looks = system_looks(analysis.run.systems)
    first, second = (points[name].to_numpy(np.float64) for name in ("first", "second"))
    systems = [str(name) for name in points["system"]]
    names = [name_within(name, width) for name in systems]
    head, height = _head(looks, systems), min(width, 3.2) * 0.95
    sheet = Sheet(figsize=(width, height))
    left = 0.48
    across = 0.96 - left / width
    axes = sheet.add_axes((left / width, FOOT / height, across, 1 - (head + FOOT) / height))
    _write_key(sheet, head)
    ends = limits(np.concatenate([first, second]))
    # Leave room on the left for the longest name, or else the lowest points may have no label.
    room = max(text_width(name, TEXT - 1.5) + TEXT for name in names) / (across * width * POINTS)
    axes.set(xlim=(ends[1] - (ends[1] - ends[0]) / (1 - room), ends[1]), ylim=ends)
    axes.set(xlabel="overall z, first run", ylabel="overall z, second run")
    axes.plot(ends, ends, color=RULE, linestyle=(0, (4, 3)), linewidth=0.8, zorder=1)
    for name, x, y in zip(systems, first, second, strict=True):
        point(axes, x, y, looks[name])
    label_points(axes, first, second, names, TEXT - 1.5)
    r = found.z.pearson["overall"]
    if np.isfinite(r):
        axes.text(0.02, 0.98, f"r = {decimal(r)}", transform=axes.transAxes, va="top")
    return sheet


def _captions(analysis: Analysis) -> dict[str, str]:
    found = analysis.replication
    r = "" if found is None else _interval_of_r(found)
    intervals = "." if analysis.intervals is None else f" with their intervals. {LEADER_INTERVAL}"
    return {
        "ranking": f"Overall scores of the systems{intervals}",
        "significance": "Whether the system of the row scores higher than that of the column; columns "
        "have the numbers of the rows.",
        "replication": f"Overall scores of the systems in two runs; on the dashed line both are equal. {r}"
        f"{'' if found is None else workers_of_both(found)}",
    }


def write_paper(analysis: Analysis, directory: Path, formats: frozenset[str], on_step: OnStep) -> list[Path]:
    """Write the kit of an analysis; arguments, result and errors are those of `write_kit`."""

    kit = Kit(
        title=f"{analysis.run.name}: a human evaluation",
        methods=methods_paragraph(analysis),
        tables=tuple(paper_tables(analysis)),
        captions=_captions(analysis),
        draw=partial(paper_figures, analysis),
        texts={"datasheet.md": datasheet(analysis), "heds.json": heds_form(analysis)},
        signature=analysis.signature,
    )
    return write_kit(kit, directory, formats, on_step)
