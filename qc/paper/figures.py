"""Figures for a paper: vector PDF in the width of one column and of two, type as large as captions are.

Widths are those of the style of ACL's conferences: 77 mm for a column, 160 mm for both. The same analysis
gives the same bytes with the same matplotlib.
"""

import io
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Sheet
from matplotlib.typing import RcKeyType
from numpy.typing import NDArray

from qc.analysis import Analysis
from qc.number_format import decimal
from qc.paper.labels import FONT, fitting, label_points
from qc.render.figures.ranking import Look, system_looks
from qc.render.figures.rows import limits
from qc.render.figures.style import INK, MUTED, PAPER, RULE
from qc.render.levels import SIGNIFICANT

MILLIMETRES = 25.4
WIDTHS = {"one-column": 77 / MILLIMETRES, "two-columns": 160 / MILLIMETRES}
TEXT = 8.0
POINTS = 72.0
ROW = 0.18
FOOT = 0.42
# Of the sheet's width, for names.
NAMES = 0.36

_SETTINGS: dict[RcKeyType, Any] = {
    "font.family": FONT,
    "font.size": TEXT,
    "text.color": INK,
    "text.parse_math": False,
    "axes.axisbelow": True,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "xtick.color": RULE,
    "ytick.color": RULE,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.major.size": 0,
    "ytick.major.size": 0,
    "grid.color": RULE,
    "axes.labelsize": TEXT,
    "xtick.labelsize": TEXT - 1,
    "ytick.labelsize": TEXT - 1,
    "axes.linewidth": 0.6,
    "grid.linewidth": 0.5,
    "lines.linewidth": 1.2,
    "xtick.major.pad": 2,
    "ytick.major.pad": 3,
    # Many venues refuse Type 3.
    "pdf.fonttype": 42,
}


@dataclass(frozen=True)
class PaperFigure:
    """A figure as PDF. `name` has the width at its end, and no ending."""

    name: str
    pdf: bytes


Draw = Callable[[Analysis, float], Sheet | None]


def paper_figures(analysis: Analysis) -> Iterator[PaperFigure]:
    """Yield every figure that the analysis has numbers for, in each of WIDTHS."""
    drawers: dict[str, Draw] = {
        "ranking": _ranking,
        "significance": _significance,
        "replication": _replication,
    }
    for name, draw in drawers.items():
        for ending, width in WIDTHS.items():
            with mpl.rc_context(_SETTINGS), warnings.catch_warnings():
                # What matplotlib's font lacks is drawn as an empty box.
                warnings.filterwarnings("ignore", message="Glyph .* missing from font")
                sheet = draw(analysis, width)
                if sheet is not None:
                    yield PaperFigure(f"{name}-{ending}", _pdf(sheet, analysis.signature))


def _pdf(sheet: Sheet, signature: str) -> bytes:
    buffer = io.BytesIO()
    told = {
        "Subject": signature,
        "CreationDate": None,
        "ModDate": None,
        "Producer": None,
        "Creator": "Candor",
    }
    sheet.savefig(buffer, format="pdf", metadata=told)
    return buffer.getvalue()


def _ranking(analysis: Analysis, width: float) -> Sheet | None:
    names = [str(name) for name in analysis.scores.z["system"]]
    z = analysis.scores.z["overall"].to_numpy(np.float64)
    if not np.isfinite(z).any():
        return None
    found, looks = analysis.intervals, system_looks(analysis.run.systems)
    unknown = np.full(len(z), np.nan)
    low, high = (unknown, unknown) if found is None else (found.z_low[:, 0], found.z_high[:, 0])
    height = ROW * len(names) + FOOT + 0.05
    sheet = Sheet(figsize=(width, height))
    axes = sheet.add_axes((NAMES, FOOT / height, 0.98 - NAMES, ROW * len(names) / height))
    axes.set(ylim=(len(names) - 0.5, -0.5), xlim=limits(np.concatenate([z, low, high])))
    axes.set_yticks(range(len(names)), [_name(name, width) for name in names])
    axes.set_xlabel("overall score (z)")
    axes.grid(axis="x")
    axes.axvline(0, color=MUTED, linewidth=0.6, zorder=1)
    for i, name in enumerate(names):
        if np.isfinite([low[i], high[i]]).all():
            axes.plot([low[i], high[i]], [i, i], color=looks[name][0], zorder=2)
        _point(axes, z[i], i, looks[name])
    return sheet


def _significance(analysis: Analysis, width: float) -> Sheet | None:
    tests = analysis.significance
    if tests is None or not np.isfinite(tests.p[~np.eye(len(tests.systems), dtype=bool)]).any():
        return None
    names, count = tests.systems, len(tests.systems)
    side = width * (0.98 - NAMES)
    cell = min(side / count, 0.3)
    height = cell * count + 2 * ROW + 0.1
    sheet = Sheet(figsize=(width, height))
    axes = sheet.add_axes((NAMES, 2 * ROW / height, cell * count / width, cell * count / height))
    axes.imshow(_shades(tests.p, tests.holm), aspect="auto")
    axes.set_yticks(range(count), [_name(f"{name}  {i}", width) for i, name in enumerate(names, 1)])
    axes.set_xticks(range(count), [str(i) for i in range(1, count + 1)])
    axes.spines[:].set_visible(False)
    text = f"dark: p < {SIGNIFICANT:g} with Holm; grey: p < {SIGNIFICANT:g} alone"
    sheet.text(0.98, 0.02 / height, text, ha="right", va="bottom", size=TEXT - 1, color=MUTED)
    return sheet


def _shades(p: NDArray[np.float64], holm: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return, (S, S, 3), the colour of each ordered pair; they are apart in grey, too."""
    shades = np.full((*p.shape, 3), 0.95)
    off = ~np.eye(len(p), dtype=bool)
    shades[(p < SIGNIFICANT) & off] = 0.65
    shades[(holm < SIGNIFICANT) & off] = (0.0, 0.24, 0.4)
    shades[~off | np.isnan(p)] = 1.0
    return shades


def _replication(analysis: Analysis, width: float) -> Sheet | None:
    found = analysis.replication
    points = None if found is None else found.points.dropna(subset=["first", "second"])
    if found is None or points is None or points.empty:
        return None
    looks = system_looks(analysis.run.systems)
    first, second = (points[name].to_numpy(np.float64) for name in ("first", "second"))
    height = min(width, 3.2) * 0.95
    sheet = Sheet(figsize=(width, height))
    left = 0.48
    axes = sheet.add_axes((left / width, FOOT / height, 0.96 - left / width, 0.96 - FOOT / height))
    ends = limits(np.concatenate([first, second]))
    axes.set(xlim=ends, ylim=ends, xlabel="overall z, first run", ylabel="overall z, second run")
    axes.plot(ends, ends, color=RULE, linestyle=(0, (4, 3)), linewidth=0.8, zorder=1)
    for name, x, y in zip(points["system"], first, second, strict=True):
        _point(axes, x, y, looks[str(name)])
    label_points(axes, first, second, [_name(str(name), width) for name in points["system"]], TEXT - 1.5)
    r = found.z.pearson["overall"]
    if np.isfinite(r):
        axes.text(0.02, 0.98, f"r = {decimal(r)}", transform=axes.transAxes, va="top")
    return sheet


def _point(axes: Axes, x: float, y: float, look: Look) -> None:
    colour, marker, filled = look
    axes.plot(
        [x],
        [y],
        linestyle="none",
        marker=marker,
        markersize=4,
        markerfacecolor=colour if filled else PAPER,
        markeredgecolor=colour,
        markeredgewidth=1,
        zorder=3,
    )


def _name(text: str, width: float) -> str:
    return fitting(text, (NAMES * width - 0.08) * POINTS, TEXT - 1)
