"""Convert text of the data, and tables, to LaTeX for every engine and any installation.

Names of systems, criteria and runs come from people and may contain anything. LaTeX's special characters are
escaped, letters with accents are composed, and Greek letters and symbols become commands. Other characters
need a special font; they become text such as `[U+4E2D]`, for the author to replace.

Source of the commands: Mittelbach et al., *The LaTeX Companion*; the tables follow the manual of the package
booktabs: no vertical rules, three horizontal ones.
"""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from qc.table import Table


@dataclass(frozen=True)
class PaperTable:
    """A table in LaTeX. `name` is its file name without ending, and its label after `tab:`."""

    name: str
    text: str


_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\^{}",
    "~": r"\~{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    "`": r"\`{}",
    "\u00a0": "~",
    "\u2212": "$-$",
    "\u2013": "--",
    "\u2014": "---",
    "\u2018": "`",
    "\u2019": "'",
    "\u201c": "``",
    "\u201d": "''",
    "\u2026": r"\ldots{}",
    "\u00b7": r"$\cdot$",
    "\u00d7": r"$\times$",
    "\u00b1": r"$\pm$",
    "\u2264": r"$\leq$",
    "\u2265": r"$\geq$",
    "\u2192": r"$\rightarrow$",
    "\u00df": r"\ss{}",
    "\u00e6": r"\ae{}",
    "\u00c6": r"\AE{}",
    "\u0153": r"\oe{}",
    "\u0152": r"\OE{}",
    "\u00f8": r"\o{}",
    "\u00d8": r"\O{}",
    "\u0142": r"\l{}",
    "\u0141": r"\L{}",
    "\u0131": r"\i{}",
}
_GREEK = {
    letter: f"$\\{name}$"
    for letter, name in zip(
        "αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΦΨΩ",
        [
            *(
                "alpha",
                "beta",
                "gamma",
                "delta",
                "epsilon",
                "zeta",
                "eta",
                "theta",
                "iota",
                "kappa",
                "lambda",
                "mu",
            ),
            *("nu", "xi", "pi", "rho", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega"),
            *("Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Phi", "Psi", "Omega"),
        ],
        strict=True,
    )
}
_ACCENTS = {
    "\u0300": "`",
    "\u0301": "'",
    "\u0302": "^",
    "\u0303": "~",
    "\u0304": "=",
    "\u0306": "u",
    "\u0307": ".",
    "\u0308": '"',
    "\u030a": "r",
    "\u030b": "H",
    "\u030c": "v",
    "\u0327": "c",
}
_DOTLESS = {"i": r"\i", "j": r"\j"}
_KNOWN = _SPECIAL | _GREEK
# Characters that LaTeX would join, such as two hyphens to a dash.
_JOINING = frozenset("-,'`?!")


def escaped(text: str) -> str:
    """Escape `text` for LaTeX, with white space as single spaces."""
    written = [_sign(sign) for sign in unicodedata.normalize("NFC", " ".join(text.split()))]
    apart = [
        f"{sign}{{}}" if sign[-1] in _JOINING and follower[0] in _JOINING else sign
        for sign, follower in zip(written, [*written[1:], " "], strict=False)
    ]
    return "".join(apart)


def _sign(sign: str) -> str:
    if sign in _KNOWN:
        return _KNOWN[sign]
    if " " <= sign <= "~":
        return sign
    composed = unicodedata.normalize("NFD", sign)
    base, mark = composed[0], composed[1:]
    if base.isascii() and base.isalpha() and mark in _ACCENTS:
        return f"\\{_ACCENTS[mark]}{{{_DOTLESS.get(base, base)}}}"
    return f"[U+{ord(sign):04X}]"


def comment(lines: Iterable[str]) -> str:
    """Return `lines` as LaTeX comments in ASCII, one line each."""
    return "".join(
        f"% {' '.join(line.split()).encode('ascii', 'backslashreplace').decode()}\n" for line in lines
    )


def paper_table(name: str, table: Table, caption: str, *, wide: bool = False) -> PaperTable:
    """Return a named table; the other arguments are those of `floating`."""
    return PaperTable(name, floating(table, caption, f"tab:{name}", wide=wide))


def floating(table: Table, caption: str, label: str, *, wide: bool = False) -> str:
    r"""Return the displayed columns of `table` as a float with booktabs rules.

    It is scaled down to the width of the column, or of the page, if it is wider. It needs the packages
    booktabs and graphicx.

    Args:
        table: the table; its headings and cells are escaped.
        caption: in LaTeX.
        label: label of the float, for `\ref`.
        wide: whether it spans both columns of a two-column page.
    """
    float_name = "table*" if wide else "table"
    aligned = "".join("r" if column.form or column.upper is not None else "l" for column in table.shown)
    # Soft hyphens are for web pages, which break headings there; here the table is scaled instead.
    heads = _row([escaped((column.head or "").replace("\u00ad", "")) for column in table.shown])
    body = "\n".join(_row([escaped(cell.text) for cell in row]) for row in table.cells())
    return rf"""\begin{{{float_name}}}[t]
\centering
\small
\setlength{{\tabcolsep}}{{4pt}}%
\resizebox{{\ifdim\width>\linewidth\linewidth\else\width\fi}}{{!}}{{%
\begin{{tabular}}{{@{{}}{aligned}@{{}}}}
\toprule
{heads}
\midrule
{body}
\bottomrule
\end{{tabular}}}}
\caption{{{caption}}}
\label{{{label}}}
\end{{{float_name}}}
"""


def _row(cells: Sequence[str]) -> str:
    # LaTeX would read a bracket at the start of a row as an argument of the row before it.
    return " & ".join(f"{{{cell}}}" if cell.startswith(("[", "*")) else cell for cell in cells) + r" \\"
