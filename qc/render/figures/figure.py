"""A drawn figure as text: SVG that can stand in a page beside others, and alone in a file."""

import io
import re
from dataclasses import dataclass
from html import escape

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

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")  # XML cannot hold them
_TAG = re.compile(r"<[^>]+>")
_COLOUR = re.compile("|".join(THEME))
_REFERENCE = re.compile(r'(?:xlink:href="#|url\(#)([^")]+)')
_ID = re.compile(r' id="([^"]+)"')
_ROOT = re.compile(r'<svg [^>]*viewBox="([^"]+)"[^>]*>')


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
        return _TAG.sub(lambda tag: _COLOUR.sub(_as_property, tag[0]), self.svg)

    def signed(self, signature: str) -> str:
        """Return `svg` for a file of its own, with the signature of what it shows inside."""
        metadata = f"<metadata>{escape(signature)}</metadata>"
        return _ROOT.sub(lambda root: root[0] + metadata, self.svg, count=1)


def finish(page: Sheet, name: str, title: str, alt: str) -> Figure:
    """Return what was drawn on `page`; the same drawing gives the same bytes."""
    buffer = io.StringIO()
    page.savefig(buffer, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    return Figure(name, title, alt, _embeddable(buffer.getvalue(), name, title, alt))


def _embeddable(svg: str, name: str, title: str, alt: str) -> str:
    svg = _CONTROL.sub("\N{REPLACEMENT CHARACTER}", svg)
    title, alt = (escape(_CONTROL.sub("", text)) for text in (title, alt))
    root = _ROOT.search(svg)
    if root is None:
        raise ValueError("matplotlib wrote no <svg> with a viewBox")
    body = svg[root.end() :]
    # It would be a rule for the whole page that the figure stands in.
    body = re.sub(r"\s*<defs>\s*<style.*?</style>\s*</defs>", "", body, count=1, flags=re.DOTALL)
    body = _TAG.sub(lambda tag: _lighter(tag[0]), _own_ids(body, name))
    body = re.sub(r"\s*\n\s*", "\n", body)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'viewBox="{root.group(1)}" role="img" aria-labelledby="{name}-title {name}-desc" '
        f'style="background: {PAPER}; font-family: {FONTS}; stroke-linejoin: round">\n'
        f'<title id="{name}-title">{title}</title>\n<desc id="{name}-desc">{alt}</desc>'
    )
    return head + body.rstrip() + "\n"


def _own_ids(body: str, name: str) -> str:
    """Return `body` with `name` before every id that is referred to, and without the others."""
    referred = {match for tag in _TAG.findall(body) for match in _REFERENCE.findall(tag)}

    def own(found: re.Match[str]) -> str:
        return f' id="{name}-{found[1]}"' if found[1] in referred else ""

    def in_tag(tag: re.Match[str]) -> str:
        return _REFERENCE.sub(lambda found: found[0].replace("#", f"#{name}-"), _ID.sub(own, tag[0]))

    return _TAG.sub(in_tag, body)


def _lighter(tag: str) -> str:
    """Return a tag without the font, which the root names, and without a rotation by 0."""
    tag = re.sub(r" ?font-family: [^;\"]*;?", "", tag)
    return re.sub(r' transform="rotate\(-0 [^)]*\)"', "", tag)


def _as_property(colour: re.Match[str]) -> str:
    return f"var({THEME[colour[0]]}, {colour[0]})"
