"""Write the desk's fonts for the pages that are not built: the report (qc/render) and the server's own pages.

`python scripts/report_fonts.py`, after `npm install` in frontend; needs the packages fonttools and brotli.
Inter is cut down to the letters of western Europe and to the weights between 400 and 600. Source Serif, in
which only titles are set, stays as it is: its licence reserves its name for whole copies.
"""

import base64
import io
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont
from fontTools.varLib import instancer

ROOT = Path(__file__).parents[1]
FONTS = ROOT / "frontend" / "node_modules"
INTER = FONTS / "@fontsource-variable/inter/files/inter-latin-wght-normal.woff2"
SERIF = FONTS / "@fontsource/source-serif-4/files/source-serif-4-latin-600-normal.woff2"
LETTERS = [*range(0x20, 0x7F), *map(ord, "\N{NO-BREAK SPACE}±²·×–—‘’“”…−ÄÉÖÜßàáâäçèéêëíîïñóôöøúûüåæœ")]
FACE = """@font-face {{
  font-family: "{family}";
  font-weight: {weight};
  src: url(data:font/woff2;base64,{content}) format("woff2");
}}
"""


def inter() -> bytes:
    """Return Inter with the letters and weights of a report."""
    font = TTFont(INTER, recalcTimestamp=False)
    options = subset.Options()
    options.layout_features = ["kern", "tnum", "ccmp"]
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=LETTERS)
    subsetter.subset(font)
    instancer.instantiateVariableFont(font, {"wght": (400, 600)}, inplace=True)
    font.flavor = "woff2"
    content = io.BytesIO()
    font.save(content)
    return content.getvalue()


def main() -> None:
    """Write the fonts into both places."""
    faces = [("Inter Variable", "400 600", inter()), ("Source Serif 4", "600", SERIF.read_bytes())]
    written = [
        FACE.format(family=family, weight=weight, content=base64.b64encode(content).decode())
        for family, weight, content in faces
    ]
    note = (
        "/* The desk's fonts, in every report; written by scripts/report_fonts.py. "
        "Both under the SIL Open Font License 1.1. */\n"
    )
    (ROOT / "qc" / "render" / "fonts.css").write_text(note + "".join(written), encoding="utf-8")
    for file, (_, _, content) in zip(("inter.woff2", "source-serif.woff2"), faces, strict=True):
        (ROOT / "server" / "site" / "static" / file).write_bytes(content)


if __name__ == "__main__":
    main()
