"""Write the files of a paper kit into their folder."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from qc.errors import OutputError
from qc.options import OnStep
from qc.paper.methods import bibliography
from qc.paper.tex import PaperTable, comment, escaped

if TYPE_CHECKING:
    from qc.paper.sheet import PaperFigure

FOLDER = "paper"
MAIN = "paper.tex"
# Text that identifies a file of an earlier kit.
MARK = "candor="
_PREAMBLE = r"""\documentclass[10pt,twocolumn]{article}
\usepackage[utf8]{inputenc}
\usepackage[a4paper,width=160mm,height=245mm]{geometry}
\usepackage{booktabs}
\usepackage{graphicx}
"""


@dataclass(frozen=True)
class Kit:
    """Material for a paper.

    Attributes:
        title: title of the sample document; plain text, not LaTeX.
        methods: a paragraph in LaTeX, which cites entries of `qc.paper.methods`.
        tables: in the order of a paper.
        captions: captions of the figures, in LaTeX, by figure name without the width.
        draw: yields the figures; it is called only if figures are requested.
        texts: other files, by name.
        signature: signature of the numbers.
    """

    title: str
    methods: str
    tables: Sequence[PaperTable]
    captions: Mapping[str, str]
    draw: "Callable[[], Iterator[PaperFigure]]"
    texts: Mapping[str, str]
    signature: str


def write_kit(kit: Kit, directory: Path, formats: frozenset[str], on_step: OnStep) -> list[Path]:
    """Write a kit into the folder FOLDER of `directory`; return its files, the one to open first.

    Files of an earlier kit that are not written again are removed. Files without a signature are not ours,
    and are kept.

    Args:
        kit: the kit to write.
        directory: the directory of the report.
        formats: some of PAPER_FORMATS: `latex` is a document that compiles as it is, its parts for use in
            another document, BibTeX and the other texts; `pdf` is the figures, which the document shows if
            they exist.
        on_step: called with a description when a format begins.

    Raises:
        OutputError: the folder or a file cannot be written.
    """
    folder, files = directory / FOLDER, list[Path]()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        earlier = {file for file in folder.iterdir() if _is_ours(file)}
        for name, content in _contents(kit, formats, on_step):
            (folder / name).write_bytes(content)
            files.append(folder / name)
        for file in earlier - set(files):
            file.unlink()
    except OSError as error:
        raise OutputError(
            f"{folder}: the files for a paper cannot be written ({error.strerror or error}). Name another "
            "--out."
        ) from None
    return sorted(files, key=lambda file: file.name != MAIN)


def _is_ours(file: Path) -> bool:
    return file.suffix in {".tex", ".pdf"} and file.is_file() and MARK.encode() in file.read_bytes()


def _contents(kit: Kit, formats: frozenset[str], on_step: OnStep) -> Iterator[tuple[str, bytes]]:
    figures = list[str]()
    if "pdf" in formats:
        on_step("Drawing the figures of the paper")
        for figure in kit.draw():
            figures.append(figure.name)
            yield f"{figure.name}.pdf", figure.pdf
    if "latex" in formats:
        on_step("Writing the tables of the paper")
        for name, text in _texts(kit, figures):
            yield name, text.encode("utf-8", errors="replace")


def _texts(kit: Kit, figures: list[str]) -> Iterator[tuple[str, str]]:
    signature = comment([kit.signature])
    yield MAIN, signature + _document(kit, figures)
    yield "methods.tex", signature + kit.methods
    for table in kit.tables:
        yield f"{table.name}.tex", signature + table.text
    yield "references.bib", bibliography()
    yield from kit.texts.items()


def _document(kit: Kit, figures: list[str]) -> str:
    """Return a document with all parts, for an author to view and to copy from."""
    shown = [(what, name) for what in kit.captions for name in figures if name == f"{what}-one-column"]
    parts = [
        comment(["A page to look at: pdflatex paper, bibtex paper, pdflatex paper twice."]) + _PREAMBLE,
        rf"\title{{{escaped(kit.title)}}}",
        r"\date{}",
        r"\begin{document}",
        r"\maketitle",
        r"\section*{Human evaluation}",
        r"\input{methods}",
        *(rf"\input{{{table.name}}}" for table in kit.tables),
        *(_figure(name, what, kit.captions[what]) for what, name in shown),
        r"\bibliographystyle{plain}",
        r"\bibliography{references}",
        r"\end{document}",
    ]
    return "\n".join(parts) + "\n"


def _figure(name: str, what: str, caption: str) -> str:
    return rf"""\begin{{figure}}[t]
\centering
\includegraphics[width=\columnwidth]{{{name}}}
\caption{{{caption}}}
\label{{fig:{what}}}
\end{{figure}}"""
