"""A drawn figure as SVG text, for a page with several figures or for a file of its own."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from qc.drawing.sheet import Sheet, as_xml, number
from qc.drawing.style import INK, MUTED, NARROW, PAPER, QUIET, RULE, WIDE

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
