"""All files of a paper kit: which there are, what is in them, and how they come into their folder."""

from collections.abc import Iterator
from pathlib import Path

from qc.analysis import Analysis
from qc.errors import OutputError
from qc.paper.datasheet import datasheet
from qc.paper.methods import methods_paragraph
from qc.paper.references import bibliography
from qc.paper.tables import PaperTable, paper_tables
from qc.paper.tex import comment, escaped
from qc.progress import OnStep

FOLDER = "paper"
MAIN = "paper.tex"
# What shows that a file is of an earlier kit.
MARK = "candor="
_PREAMBLE = r"""\documentclass[10pt,twocolumn]{article}
\usepackage[utf8]{inputenc}
\usepackage[a4paper,width=160mm,height=245mm]{geometry}
\usepackage{booktabs}
\usepackage{graphicx}
"""


def write_paper(analysis: Analysis, directory: Path, formats: frozenset[str], on_step: OnStep) -> list[Path]:
    """Write the kit into the folder FOLDER of `directory`; return its files, the one to read first.

    Files of an earlier kit that this one does not write are removed; files that nobody can mistake for ours,
    because no signature is in them, stay.

    Args:
        analysis: the results.
        directory: that of the report.
        formats: of PAPER_FORMATS: `latex` is a document that compiles as it is, its parts to be taken into
            another, BibTeX and the datasheet; `pdf` the figures, which the document shows if they are there.
        on_step: called with a description when a format is begun.

    Raises:
        OutputError: the folder or a file cannot be written.
    """
    folder, files = directory / FOLDER, list[Path]()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        earlier = {file for file in folder.iterdir() if _is_ours(file)}
        for name, content in _contents(analysis, formats, on_step):
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


def _contents(analysis: Analysis, formats: frozenset[str], on_step: OnStep) -> Iterator[tuple[str, bytes]]:
    figures = list[str]()
    if "pdf" in formats:
        # Matplotlib takes half a second to import, which those who want text only need not wait for.
        from qc.paper.figures import paper_figures  # noqa: PLC0415

        on_step("Drawing the figures of the paper")
        for figure in paper_figures(analysis):
            figures.append(figure.name)
            yield f"{figure.name}.pdf", figure.pdf
    if "latex" in formats:
        on_step("Writing the tables of the paper")
        for name, text in _texts(analysis, figures):
            yield name, text.encode("utf-8", errors="replace")


def _texts(analysis: Analysis, figures: list[str]) -> Iterator[tuple[str, str]]:
    tables = list(paper_tables(analysis))
    signature = comment([analysis.signature])
    yield MAIN, signature + _document(analysis, tables, figures)
    yield "methods.tex", signature + methods_paragraph(analysis)
    for table in tables:
        yield f"{table.name}.tex", signature + table.text
    yield "references.bib", bibliography()
    yield "datasheet.md", datasheet(analysis)


def _document(analysis: Analysis, tables: list[PaperTable], figures: list[str]) -> str:
    """Return a document of all parts, for an author to look at and to copy from."""
    parts = [
        comment(["A page to look at: pdflatex paper, bibtex paper, pdflatex paper twice."]) + _PREAMBLE,
        rf"\title{{{escaped(analysis.run.name)}: a human evaluation}}",
        r"\date{}",
        r"\begin{document}",
        r"\maketitle",
        r"\section*{Human evaluation}",
        r"\input{methods}",
        *(rf"\input{{{table.name}}}" for table in tables),
        *(_figure(name) for name in figures if name.endswith("one-column")),
        r"\bibliographystyle{plain}",
        r"\bibliography{references}",
        r"\end{document}",
    ]
    return "\n".join(parts) + "\n"


_CAPTIONS = {
    "ranking": "Overall scores of the systems with their intervals.",
    "significance": "Whether the system of the row scores higher than that of the column.",
    "replication": "Overall scores of the systems in two runs.",
}


def _figure(name: str) -> str:
    what = name.partition("-")[0]
    return rf"""\begin{{figure}}[t]
\centering
\includegraphics[width=\columnwidth]{{{name}}}
\caption{{{_CAPTIONS[what]}}}
\label{{fig:{what}}}
\end{{figure}}"""
