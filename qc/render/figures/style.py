"""How every figure looks: sizes, colours, fonts, and a sheet of fixed width to draw on.

All lengths are in units: 1/72 inch for matplotlib, one unit of the viewBox in the SVG. A sheet is narrow and
its type large, so that it can still be read when a phone shows it at 330 pixels.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path
from matplotlib.typing import RcKeyType

WIDTH = 560.0
UNITS_PER_INCH = 72.0
TEXT, SMALL = 16.0, 14.0
GAP, MARGIN = 8.0, 12.0
LONGEST_LABEL = 200.0
KEY_SIGN = 20.0

INK, MUTED, RULE, QUIET, PAPER = "#1b2733", "#55616d", "#d5dade", "#e7ebee", "#ffffff"
# Of cells whose colour is data: not to change with the page's colours, so not equal to INK and PAPER.
ON_LIGHT, ON_DARK = "#16202a", "#fefefe"

# Okabe and Ito, *Color Universal Design*, 2008; without its yellow and black, which fade on paper and on ink.
BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#e69f00",
    "#56b4e9",
)
FAMILY_COLOURS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY)
FAMILY_MARKERS = ("o", "s", "D", "^", "v", "P", "X")
PASSED, FAILED = BLUE, VERMILION

# From below 0 to above, white between; light enough for dark numbers everywhere.
DIVERGING = LinearSegmentedColormap.from_list(
    "diverging", ["#dd7a35", "#f6c9a6", "#ffffff", "#a6cde6", "#3b93c9"]
)

Sheet = Figure

_SETTINGS: dict[RcKeyType, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "figure",
    "text.parse_math": False,
    "font.family": "DejaVu Sans",
    "font.size": TEXT,
    "text.color": INK,
    "figure.facecolor": "none",
    "savefig.facecolor": "none",
    "axes.facecolor": "none",
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.labelsize": TEXT,
    "axes.linewidth": 1.0,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "xtick.color": RULE,
    "ytick.color": RULE,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "xtick.major.size": 0,
    "ytick.major.size": 0,
    "xtick.major.pad": 6,
    "ytick.major.pad": 6,
    "grid.color": RULE,
    "grid.linewidth": 1.0,
    "lines.linewidth": 2.0,
    "lines.markersize": 9.0,
    "hatch.linewidth": 1.0,
    "hatch.color": PAPER,
}


@contextmanager
def drawing() -> Iterator[None]:
    """Apply the settings of this module to what is drawn and saved inside."""
    with matplotlib.rc_context(_SETTINGS), warnings.catch_warnings():
        # The reader's fonts show the text, not matplotlib's.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        yield


def sheet(height: float) -> Sheet:
    """Return an empty sheet, WIDTH wide and `height` high."""
    return Sheet(figsize=(WIDTH / UNITS_PER_INCH, height / UNITS_PER_INCH))


def panel(page: Sheet, left: float, top: float, width: float, height: float) -> Axes:
    """Return axes whose upper left corner is `left` and `top` units from that of the sheet."""
    whole_width, whole_height = page.get_size_inches() * UNITS_PER_INCH
    return page.add_axes(
        (left / whole_width, 1 - (top + height) / whole_height, width / whole_width, height / whole_height)
    )


def note(page: Sheet, left: float, top: float, text: str, colour: str = MUTED) -> None:
    """Write a line of text whose baseline begins `left` and `top` units from the upper left corner."""
    whole_width, whole_height = page.get_size_inches() * UNITS_PER_INCH
    page.text(left / whole_width, 1 - top / whole_height, text, color=colour, size=SMALL)


def key(page: Sheet, left: float, top: float, sign: str, colour: str, text: str) -> float:
    """Write an entry of a legend, a coloured sign and its meaning, as `note` does; return where it ends."""
    note(page, left, top, sign, colour)
    note(page, left + KEY_SIGN, top, text)
    return left + KEY_SIGN + text_width(text)


@lru_cache(maxsize=4096)
def text_box(text: str, size: float = SMALL, *, bold: bool = False) -> tuple[float, float, float]:
    """Return width and height of a line, and how far it reaches below its baseline.

    They are those of matplotlib's font, which is wider than what browsers will use.
    """
    font = FontProperties(family="DejaVu Sans", size=size, weight="bold" if bold else "normal")
    width, height, descent = text_to_path.get_text_width_height_descent(text, font, ismath=False)
    return float(width), float(height), float(descent)


def text_width(text: str, size: float = SMALL, *, bold: bool = False) -> float:
    """Return how wide a line is."""
    return text_box(text, size, bold=bold)[0]


def shortened(text: str, width: float = LONGEST_LABEL, size: float = SMALL) -> str:
    """Return `text`, its middle replaced by an ellipsis if it is wider than `width`.

    Names of systems often differ at their ends, so the ends stay.
    """
    text = " ".join(text.split())
    kept = len(text)
    short = text
    while kept > 2 and text_width(short, size) > width:
        kept -= 1
        short = text[: (kept + 1) // 2].rstrip() + "…" + text[len(text) - kept // 2 :].lstrip()
    return short


def colour_on(background: tuple[float, float, float, float]) -> str:
    """Return the colour of text that is the easier to read on `background`.

    Source: relative luminance as in Web Content Accessibility Guidelines 2.2, W3C 2023.
    """
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in background[:3]]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    # Above this, contrast with black is the higher one: (L + 0.05) / 0.05 = 1.05 / (L + 0.05).
    return ON_LIGHT if luminance > 0.179 else ON_DARK
