"""Write the findings of a command as files in a directory."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from candor.common.terminal import visible
from qc.errors import OutputError
from qc.progress import OnStep, no_step
from qc.render.document import json_text
from qc.render.files import DRAWN, comma_separated, utf8
from qc.render.findings.findings import Findings
from qc.run import source_name

if TYPE_CHECKING:
    from qc.drawing.figure import Figure
from collections.abc import Mapping
from typing import TYPE_CHECKING

from markupsafe import Markup

from qc.render.page import POLICY, SHOWN_ROWS, style, template

if TYPE_CHECKING:
    from qc.drawing.figure import Figure


def findings_page(found: Findings, figures: "Mapping[str, Figure]") -> str:
    """Return the page. It has no script and makes no request; all text from the data is escaped."""
    content = template("findings.html.jinja").render(
        found=found,
        source=source_name(found.source),
        tables={file: each.table for file, each in found.files.items()},
        files=(),  # the template itself names the file of every table, long or short
        figures={name: Markup(figure.themed) for name, figure in figures.items()},  # noqa: S704
        shown_rows=SHOWN_ROWS,
        style=style(),
        policy=POLICY,
    )
    return visible(content)


def write_findings(
    found: Findings, directory: Path, formats: frozenset[str], on_step: OnStep = no_step
) -> list[Path]:
    """Write findings into `directory`, which is created if missing; return the files.

    Files with the same names are replaced; no other file is touched.

    Args:
        found: the findings.
        directory: output directory.
        formats: some of FORMATS: a page, a document for programs, a file for each table, a workbook of all
            tables, a file for each figure.
        on_step: called with a description when a format begins.

    Raises:
        OutputError: the directory or a file cannot be written.
    """
    files: list[Path] = []
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for name, content in _contents(found, formats, on_step):
            (directory / name).write_bytes(content)
            files.append(directory / name)
    except OSError as error:
        raise OutputError(
            f"{directory}: the results cannot be written ({error.strerror or error}). Name another --out."
        ) from None
    return files


def _contents(found: Findings, formats: frozenset[str], on_step: OnStep) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of each file."""
    figures: dict[str, Figure] = {}
    if formats & DRAWN:
        on_step("Drawing the figures")
        figures = _drawn(found)
    if "html" in formats:
        from qc.render.findings.files import findings_page  # noqa: PLC0415  # takes long to import

        on_step("Writing the page")
        yield f"{found.command}.html", utf8(findings_page(found, figures))
    if "json" in formats:
        on_step(f"Writing {found.command}.json")
        yield f"{found.command}.json", utf8(_document(found))
    if "csv" in formats:
        on_step("Writing the tables")
        for name, each in found.files.items():
            yield name, comma_separated(each.table.frame)
    if "xlsx" in formats:
        on_step("Writing the workbook")
        yield f"{found.command}.xlsx", _workbook(found)
    if "svg" in formats:
        on_step("Writing the figures")
        for figure in figures.values():
            yield f"{figure.name}.svg", utf8(visible(figure.signed(found.signature)))


def _drawn(found: Findings) -> "dict[str, Figure]":
    from qc.drawing.figure import finish  # noqa: PLC0415  # only where something is drawn

    drawn = ((figure.name, figure.draw()) for figure in found.figures)
    return {name: finish(name, each) for name, each in drawn if each is not None}


def _document(found: Findings) -> str:
    return json_text(
        {
            "command": found.command,
            "title": found.title,
            "signature": found.signature,
            "source": source_name(found.source),
            "verdict": found.verdict,
            "notes": found.notes,
            **{each.name: each.table.frame for each in found.files.values()},
        }
    )


def _workbook(found: Findings) -> bytes:
    from qc.render.workbook import book_of  # noqa: PLC0415  # takes long to import

    entries = [("source", source_name(found.source))] if found.source else []
    entries += [("verdict", sentence) for sentence in found.verdict]
    entries += [("note", note) for note in found.notes]
    entries += [("method", found.method), ("signature", found.signature)]
    return book_of(found.title, entries, {file: each.table for file, each in found.files.items()})
