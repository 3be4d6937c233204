"""A drawn figure as text: SVG that can stand in a page beside others, and alone in a file."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from qc.render.drawing.sheet import Sheet, as_xml, number
from qc.render.drawing.style import INK, MUTED, NARROW, PAPER, QUIET, RULE, WIDE

FONTS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"
# Custom properties by which a page gives figures the colours of its own.
THEME = {
    INK: "--figure-ink",
    MUTED: "--figure-muted",
    RULE: "--figure-rule",
    QUIET: "--figure-quiet",
    PAPER: "--figure-paper",
}
SVG = "http://www.w3.org/2000/svg"
# A colour as a property of a style; text of people's holds no quotation mark that is not written as &quot;.
_COLOUR = re.compile(r'(?<=: )#[0-9a-f]{6}(?=[^<>"]*")')


class Drawing(NamedTuple):
    """What is to be drawn: what it shows, what is to be seen on it, and what draws it as wide as is asked."""

    title: str
    alt: str
    draw: Callable[[float], Sheet]


@dataclass(frozen=True)
class Figure:
    """One figure.

    Attributes:
        name: lower case with hyphens; the name of its file without the ending, and the beginning of all ids.
        title: what it shows.
        alt: one sentence that says what is to be seen, for those who do not see it.
        svg: a complete SVG document in UTF-8, without width and height, so that it takes the width it is
            given. It has no XML declaration, refers to nothing outside itself, and can be put into a page.
        narrow: the same for a phone.
    """

    name: str
    title: str
    alt: str
    svg: str
    narrow: str

    @property
    def themed(self) -> str:
        """Both widths, of which a page shows one, as classes `wide` and `narrow`.

        Their text, lines and paper take the colours of the page if it defines those of THEME. Programs other
        than browsers may not know custom properties, so files keep plain colours.
        """
        return "".join(
            _COLOUR.sub(_as_property, svg).replace("<svg ", f'<svg class="{kind}" ', 1)
            for kind, svg in (("wide", self.svg), ("narrow", self.narrow))
        )

    def signed(self, signature: str) -> str:
        """Return `svg` for a file of its own, with the signature of what it shows inside."""
        head, end, rest = self.svg.partition(">\n")
        return f"{head}{end}<metadata>{as_xml(signature)}</metadata>\n{rest}"


def finish(name: str, drawing: Drawing) -> Figure:
    """Return what was drawn, under its name; the same drawing gives the same bytes."""
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
