"""A drawn figure as text: SVG that can stand in a page beside others, and alone in a file."""

import io
import re
from dataclasses import dataclass
from typing import NamedTuple
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from qc.render.figures.style import INK, MUTED, PAPER, QUIET, RULE, Sheet

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
XLINK = "http://www.w3.org/1999/xlink"
HREF = f"{{{XLINK}}}href"
ElementTree.register_namespace("", SVG)
ElementTree.register_namespace("xlink", XLINK)

# What XML 1.0 cannot hold: control characters, halves of surrogate pairs, and two that are no characters.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


class Drawing(NamedTuple):
    """What was drawn on a sheet: the sheet, what it shows, and what is to be seen on it, in a sentence."""

    sheet: Sheet
    title: str
    alt: str


@dataclass(frozen=True)
class Figure:
    """One figure.

    Attributes:
        name: lower case with hyphens; the name of its file without the ending, and the beginning of all ids.
        title: what it shows.
        alt: one sentence that says what is to be seen, for those who do not see it.
        svg: a complete SVG document in UTF-8, without width and height, so that it takes the width it is
            given. It has no XML declaration, refers to nothing outside itself, and can be put into a page.
    """

    name: str
    title: str
    alt: str
    svg: str

    @property
    def themed(self) -> str:
        """`svg` whose text, lines and paper take the colours of the page if it defines those of THEME.

        Programs other than browsers may not know custom properties, so files keep plain colours.
        """
        root = _parsed(self.svg)
        for element in root.iter():
            _restyle(element, {name: _as_property(value) for name, value in _style(element).items()})
        return _serialised(root)

    def signed(self, signature: str) -> str:
        """Return `svg` for a file of its own, with the signature of what it shows inside."""
        root = _parsed(self.svg)
        metadata = Element(_tag("metadata"))
        metadata.text = signature
        root.insert(0, metadata)
        return _serialised(root)


def finish(name: str, drawing: Drawing) -> Figure:
    """Return what was drawn, under its name; the same drawing gives the same bytes."""
    buffer = io.StringIO()
    drawing.sheet.savefig(buffer, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    drawn = _parsed(_FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", buffer.getvalue()))
    root = Element(
        _tag("svg"),
        {
            "viewBox": drawn.attrib["viewBox"],
            "role": "img",
            "aria-labelledby": f"{name}-title {name}-desc",
            "style": f"background: {PAPER}; font-family: {FONTS}; stroke-linejoin: round",
        },
    )
    # matplotlib's rules would hold for the whole page that the figure stands in.
    root.extend(part for part in drawn if part.find(_tag("style")) is None)
    _own_ids(root, name)
    for element in root.iter(_tag("text")):
        _lighten(element)
    for number, (part, text) in enumerate((("title", drawing.title), ("desc", drawing.alt))):
        described = Element(_tag(part), {"id": f"{name}-{part}"})
        described.text = _FORBIDDEN.sub("", text)
        root.insert(number, described)
    return Figure(name, drawing.title, drawing.alt, _serialised(root))


def _own_ids(root: Element, name: str) -> None:
    """Put `name` before every id that is referred to, and remove the others."""
    referred: set[str] = set()
    for element in root.iter():
        for attribute, value in element.items():
            before, mark, rest = value.partition("#" if attribute == HREF else "url(#")
            if mark:
                referred.add(rest.partition(")")[0])
                element.set(attribute, f"{before}{mark}{name}-{rest}")
    for element in root.iter():
        if (own := element.attrib.pop("id", None)) in referred:
            element.set("id", f"{name}-{own}")


def _lighten(text: Element) -> None:
    """Remove from a text its font, which the root names, and a rotation by 0."""
    _restyle(text, {name: value for name, value in _style(text).items() if name != "font-family"})
    if text.get("transform", "").startswith("rotate(-0 "):
        del text.attrib["transform"]


def _style(element: Element) -> dict[str, str]:
    declarations = filter(None, element.get("style", "").split("; "))
    return {name: value for name, _, value in (each.partition(": ") for each in declarations)}


def _restyle(element: Element, style: dict[str, str]) -> None:
    if style:
        element.set("style", "; ".join(f"{name}: {value}" for name, value in style.items()))


def _as_property(value: str) -> str:
    return f"var({THEME[value]}, {value})" if value in THEME else value


def _tag(name: str) -> str:
    return f"{{{SVG}}}{name}"


def _parsed(svg: str) -> Element:
    return ElementTree.fromstring(svg)  # noqa: S314  # what we or matplotlib wrote


def _serialised(root: Element) -> str:
    ElementTree.indent(root, "")
    return ElementTree.tostring(root, encoding="unicode") + "\n"
