"""A sheet of SVG marks to draw on, and the figures that are made of it.

Matplotlib can do much more, but took most of the time of a report. Here each mark is a line of text.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from math import cos, isfinite, pi, sin
from typing import Literal, NamedTuple

from qc.drawing.style import INK, KEY_SIGN, MUTED, NARROW, PAPER, QUIET, RULE, SMALL, WIDE, text_width

Point = tuple[float, float]
Anchor = Literal["start", "middle", "end"]

# Characters not allowed in XML 1.0: control characters, halves of surrogate pairs, and two noncharacters.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
# Distance from the middle of a line to its baseline, as a share of the font size.
TO_BASELINE = 0.35


class Sheet:
    """A sheet of `width` by `height` units with marks; later marks are on top.

    Coordinates are units from the upper left corner. They must be finite.
    """

    def __init__(self, width: float, height: float) -> None:
        self.width = width
        self.height = height
        self._marks: list[str] = []

    @property
    def marks(self) -> str:
        """All marks as SVG elements, one per line."""
        return "\n".join(self._marks)

    def line(
        self,
        points: Iterable[Point],
        colour: str,
        width: float = 1.0,
        dash: str = "",
        *,
        rounded: bool = False,
    ) -> None:
        """Draw straight lines from point to point; `dash` is SVG's dash pattern."""
        path = "M" + "L".join(f"{number(x)} {number(y)}" for x, y in points)
        style = f"fill: none; stroke: {colour}; stroke-width: {number(width)}"
        style += f"; stroke-dasharray: {dash}" if dash else ""
        style += "; stroke-linecap: round" if rounded else ""
        self._mark("path", f'd="{path}"', style)

    def polygon(
        self, points: Iterable[Point], fill: str, *, opacity: float = 1.0, edge: str = "", width: float = 2.0
    ) -> None:
        """Fill the polygon `points`; `edge` is the colour of its outline, "" for none."""
        listed = " ".join(f"{number(x)},{number(y)}" for x, y in points)
        style = f"fill: {fill}"
        style += f"; fill-opacity: {number(opacity)}" if opacity < 1 else ""
        style += f"; stroke: {edge}; stroke-width: {number(width)}" if edge else ""
        self._mark("polygon", f'points="{listed}"', style)

    def rectangle(
        self,
        corner: Point,
        size: Point,
        fill: str,
        *,
        opacity: float = 1.0,
        edge: str = "",
        width: float = 1.5,
    ) -> None:
        """Fill the rectangle with the upper left corner `corner` and the `size` (width, height)."""
        x, y = corner
        self.polygon(
            ((x, y), (x + size[0], y), (x + size[0], y + size[1]), (x, y + size[1])),
            fill,
            opacity=opacity,
            edge=edge,
            width=width,
        )

    def text(
        self,
        at: Point,
        text: str,
        colour: str = INK,
        size: float = SMALL,
        anchor: Anchor = "start",
        *,
        bold: bool = False,
        turned: float = 0.0,
    ) -> None:
        """Write a line of text whose baseline has its start, middle or end (`anchor`) at the point `at`.

        `turned` is its slope in degrees.
        """
        x, y = number(at[0]), number(at[1])
        place = f'x="{x}" y="{y}"' + (f' transform="rotate({number(-turned)} {x} {y})"' if turned else "")
        style = f"font-size: {number(size)}px; fill: {colour}"
        style += f"; text-anchor: {anchor}" if anchor != "start" else ""
        style += "; font-weight: bold" if bold else ""
        self._marks.append(f'<text {place} style="{style}">{as_xml(text)}</text>')

    def beside(
        self,
        at: Point,
        text: str,
        colour: str = INK,
        size: float = SMALL,
        anchor: Anchor = "start",
        *,
        bold: bool = False,
    ) -> None:
        """Write a line of text that is vertically centred at a point."""
        self.text((at[0], at[1] + TO_BASELINE * size), text, colour, size, anchor, bold=bold)

    def marker(
        self,
        at: Point,
        shape: str,
        colour: str,
        size: float = 9.0,
        *,
        filled: bool = True,
        opacity: float = 1.0,
    ) -> None:
        """Draw a marker (one of FAMILY_MARKERS) of width `size`, centred at a point."""
        fill = colour if filled else PAPER
        if shape == "o":
            place = f'cx="{number(at[0])}" cy="{number(at[1])}" r="{number(size / 2)}"'
            faint = f"; opacity: {number(opacity)}" if opacity < 1 else f"; stroke: {colour}; stroke-width: 2"
            self._mark("circle", place, f"fill: {fill}{faint}")
        else:
            corners = [(at[0] + x * size / 2, at[1] + y * size / 2) for x, y in _SHAPES[shape]]
            self.polygon(corners, fill, edge=colour)

    def key(self, at: Point, sign: str, colour: str, text: str) -> float:
        """Write an entry of a legend, a coloured sign and its meaning; return its right end."""
        self.text(at, sign, colour)
        self.text((at[0] + KEY_SIGN, at[1]), text, MUTED)
        return at[0] + KEY_SIGN + text_width(text)

    def keys(self, at: Point, entries: Sequence[tuple[str, str, str]], line: float = 22.0) -> float:
        """Write entries of a legend side by side, on as many lines as needed.

        Args:
            at: start of the first entry.
            entries: sign, colour and meaning of each.
            line: distance between lines.

        Returns:
            The baseline of the last line.
        """
        left, top = at
        for sign, colour, text in entries:
            if left > at[0] and left + KEY_SIGN + text_width(text) > self.width:
                left, top = at[0], top + line
            left = self.key((left, top), sign, colour, text) + KEY_SIGN
        return top

    def _mark(self, element: str, place: str, style: str) -> None:
        self._marks.append(f'<{element} {place} style="{style}"/>')


def number(value: float) -> str:
    """Return a length in SVG notation, rounded to a hundredth of a unit.

    Raises:
        ValueError: it is not finite.
    """
    if not isfinite(value):
        raise ValueError(f"a mark at {value}")
    return f"{round(value, 2) + 0:.2f}".rstrip("0").rstrip(".")


def as_xml(text: str) -> str:
    """Escape `text` for use in an XML element or attribute."""
    return escape(_FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text))


def _star(points: int, inner: float, turn: float) -> list[Point]:
    radii = (1.2, inner)
    return [
        (radii[i % 2] * sin(turn + pi * i / points), -radii[i % 2] * cos(turn + pi * i / points))
        for i in range(2 * points)
    ]


# Corners of markers, relative to the centre, in units of half their width; a plus and a cross are stars of
# four points.
_SHAPES: dict[str, list[Point]] = {
    "s": [(-1, -1), (1, -1), (1, 1), (-1, 1)],
    "D": [(0, -1.3), (1.3, 0), (0, 1.3), (-1.3, 0)],
    "^": [(0, -1.15), (1.15, 1), (-1.15, 1)],
    "v": [(0, 1.15), (1.15, -1), (-1.15, -1)],
    "P": _star(4, 0.5, 0),
    "X": _star(4, 0.5, pi / 4),
}


FONTS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"
# CSS custom properties with which a page sets the colours of figures.
THEME = {
    INK: "--figure-ink",
    MUTED: "--figure-muted",
    RULE: "--figure-rule",
    QUIET: "--figure-quiet",
    PAPER: "--figure-paper",
}
SVG = "http://www.w3.org/2000/svg"
# A colour as a property of a style. People's text cannot match: its quotation marks are written as &quot;.
_COLOUR = re.compile(r'(?<=: )#[0-9a-f]{6}(?=[^<>"]*")')


class Drawing(NamedTuple):
    """A figure to draw: its title, its alternative text, and the function that draws it in a given width."""

    title: str
    alt: str
    draw: Callable[[float], Sheet]


@dataclass(frozen=True)
class Figure:
    """One figure.

    Attributes:
        name: lower case with hyphens; its file name without ending, and the prefix of all its ids.
        title: title of the figure.
        alt: one sentence that describes the figure, for people who cannot see it.
        svg: a complete SVG document in UTF-8. It has no width and height, so it takes the available width. It
            has no XML declaration and no external references, and can be embedded in a page.
        narrow: the same for a phone.
    """

    name: str
    title: str
    alt: str
    svg: str
    narrow: str

    @property
    def themed(self) -> str:
        """Both widths, as the classes `wide` and `narrow`; a page shows one of them.

        Text, lines and background take the page's colours if it defines the properties in THEME. Files keep
        plain colours, because programs other than browsers may not support custom properties.
        """
        return "".join(
            _COLOUR.sub(_as_property, svg).replace("<svg ", f'<svg class="{kind}" ', 1)
            for kind, svg in (("wide", self.svg), ("narrow", self.narrow))
        )

    def signed(self, signature: str) -> str:
        """Return `svg` for a file of its own, with the signature of its data inside."""
        head, end, rest = self.svg.partition(">\n")
        return f"{head}{end}<metadata>{as_xml(signature)}</metadata>\n{rest}"


def finish(name: str, drawing: Drawing) -> Figure:
    """Draw a figure; the same drawing always gives the same bytes."""
    wide, narrow = drawing.draw(WIDE), drawing.draw(NARROW)
    return Figure(
        name,
        drawing.title,
        drawing.alt,
        _document(name, drawing, wide),
        _document(f"{name}-narrow", drawing, narrow),
    )


def _document(ids: str, drawing: Drawing, page: Sheet) -> str:
    style = f"background: {PAPER}; font-family: {FONTS}; stroke-linejoin: round"
    return "\n".join(
        [
            f'<svg xmlns="{SVG}" viewBox="0 0 {number(page.width)} {number(page.height)}" role="img" '
            f'aria-labelledby="{ids}-title {ids}-desc" style="{style}">',
            f'<title id="{ids}-title">{as_xml(drawing.title)}</title>',
            f'<desc id="{ids}-desc">{as_xml(drawing.alt)}</desc>',
            page.marks,
            "</svg>\n",
        ]
    )


def _as_property(found: re.Match[str]) -> str:
    colour = found[0]
    return f"var({THEME[colour]}, {colour})" if colour in THEME else colour
