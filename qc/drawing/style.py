"""Sizes, colours and text widths of every figure.

All lengths are in units of the SVG's viewBox. A figure is drawn in two widths with the same font size: a page
shows the wide one if there is room, and the narrow one on a phone, where a unit is about a pixel.
"""

import unicodedata
from functools import lru_cache

WIDE, NARROW = 560.0, 350.0
TEXT, SMALL = 16.0, 14.0
GAP, MARGIN = 8.0, 12.0
LONGEST_LABEL = 0.36  # share of the width
KEY_SIGN = 20.0
LINE_HEIGHT = 1.15  # times the font size; DejaVu's ascent is 0.93 and its descent 0.24
DESCENT = 0.24

# The light theme of qc/render/tokens.css.
INK, MUTED, RULE, QUIET, PAPER = "#1d1b18", "#5f5a52", "#d9d5cc", "#eae7e0", "#ffffff"
# Text colours for cells whose colour is data. They differ from INK and PAPER, so that a page's colours do not
# replace them.
ON_LIGHT, ON_DARK = "#16202a", "#fefefe"

# Palette: Okabe and Ito, *Color Universal Design*, 2008, without its yellow and black, which are hard to see
# on a light or dark background.
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

# From negative to positive values, with white between; all light enough for dark numbers.
_DIVERGING = ((221, 122, 53), (246, 201, 166), (255, 255, 255), (166, 205, 230), (59, 147, 201))

# Advance widths of DejaVu Sans 2.37 from space to tilde, in thousandths of the font size. It is wider than
# the fonts of most browsers, so text that fits with it fits there too.
_ADVANCES = (
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337,
    636, 636, 636, 636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531,
    1000, 684, 686, 698, 770, 632, 575, 775, 752, 295, 295, 656, 557, 863, 748, 787,
    603, 787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390, 337, 390, 838, 500,
    500, 613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612,
    635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838,
)  # fmt: skip
_FIRST = 32
# Advance width of other letters, and of letters that East Asian fonts draw in a square; and the ratio of bold
# to regular.
_OTHER, _SQUARE, _BOLD = 0.65, 1.0, 1.12


def diverging(value: float) -> str:
    """Return the colour of a value from −1 (orange) through 0 (white) to 1 (blue)."""
    steps = len(_DIVERGING) - 1
    at = (min(max(value, -1.0), 1.0) + 1) / 2 * steps
    below = min(int(at), steps - 1)
    part = at - below
    mixed = (
        round(low + part * (high - low))
        for low, high in zip(_DIVERGING[below], _DIVERGING[below + 1], strict=True)
    )
    return "#" + "".join(f"{channel:02x}" for channel in mixed)


@lru_cache(maxsize=4096)
def text_width(text: str, size: float = SMALL, *, bold: bool = False) -> float:
    """Estimate the width of a line; browsers rarely draw it wider."""
    return sum(map(_advance, text)) * size * (_BOLD if bold else 1)


def _advance(character: str) -> float:
    place = ord(character) - _FIRST
    if 0 <= place < len(_ADVANCES):
        return _ADVANCES[place] / 1000
    return _SQUARE if unicodedata.east_asian_width(character) in "WF" else _OTHER


def fitting(text: str, width: float, size: float = SMALL) -> float:
    """Return the largest font size, up to `size`, at which a line fits into `width`."""
    return min(size, size * width / max(text_width(text, size), 1.0))


def shortened(text: str, width: float, size: float = SMALL) -> str:
    """Return `text`, with an ellipsis in the middle if it is wider than `width`.

    Both ends are kept, because names of systems often differ at the end.
    """
    text = " ".join(text.split())
    if text_width(text, size) <= width:
        return text
    # Start from the narrowest letter width, so that names of any length are fast.
    kept = min(len(text) - 1, int(width / (0.275 * size)) + 1)
    while True:
        short = text[: (kept + 1) // 2].rstrip() + "…" + text[len(text) - kept // 2 :].lstrip()
        if kept <= 2 or text_width(short, size) <= width:
            return short
        kept -= 1


def colour_on(background: str) -> str:
    """Return the text colour with the better contrast on `background`, #rrggbb.

    Source: relative luminance as in Web Content Accessibility Guidelines 2.2, W3C 2023.
    """
    channels = [int(background[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    # Above this, black has the higher contrast: (L + 0.05) / 0.05 = 1.05 / (L + 0.05).
    return ON_LIGHT if luminance > 0.179 else ON_DARK
