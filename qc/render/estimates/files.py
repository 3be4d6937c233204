"""All that is written into the directory of estimates."""

from collections.abc import Iterator
from pathlib import Path

from qc.errors import OutputError
from qc.precision.estimates import Estimates
from qc.progress import OnStep, no_step
from qc.render.estimates.document import document
from qc.render.estimates.sentences import findings
from qc.render.estimates.tables import estimate_tables
from qc.render.files import comma_separated
from qc.render.workbook import book_of

FORMATS = ("html", "json", "csv", "xlsx", "svg")
PAGE, DOCUMENT, WORKBOOK = "estimates.html", "estimates.json", "estimates.xlsx"


def writing_steps(formats: frozenset[str]) -> int:
    """Return how often `write` calls `on_step`."""
    return len(formats)


def write(
    estimates: Estimates,
    directory: Path,
    formats: frozenset[str] = frozenset(FORMATS),
    on_step: OnStep = no_step,
) -> list[Path]:
    """Write the estimates into `directory`, made if absent; return the files, the one to read first.

    Files of the same names are replaced; nothing else is touched.

    Args:
        estimates: what is written.
        directory: where to.
        formats: of FORMATS; `csv` is a file for each table, `svg` one for each figure.
        on_step: called with a description when a format is begun.

    Raises:
        OutputError: the directory or a file cannot be written.
    """
    files = []
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for name, content in _contents(estimates, formats, on_step):
            (directory / name).write_bytes(content)
            files.append(directory / name)
    except OSError as error:
        raise OutputError(
            f"{directory}: the estimates cannot be written ({error.strerror or error}). Name another --out."
        ) from None
    return files


def _contents(estimates: Estimates, formats: frozenset[str], on_step: OnStep) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of each file."""
    tables = estimate_tables(estimates)
    if formats & {"html", "svg"}:
        # Half a second of imports that those who want no figure need not wait for.
        from qc.render.estimates.figures import figures  # noqa: PLC0415
        from qc.render.estimates.page import page  # noqa: PLC0415

        drawn = figures(estimates)
        if "html" in formats:
            on_step(f"Writing {PAGE}")
            yield PAGE, page(estimates, drawn).encode("utf-8", errors="replace")
        if "svg" in formats:
            on_step("Writing the figures")
            for figure in drawn:
                yield f"{figure.name}.svg", figure.signed(estimates.signature).encode("utf-8")
    if "json" in formats:
        on_step(f"Writing {DOCUMENT}")
        yield DOCUMENT, document(estimates).encode("utf-8", errors="replace")
    if "csv" in formats:
        on_step("Writing the tables")
        for titled in tables:
            yield titled.name, comma_separated(titled.table.frame)
    if "xlsx" in formats:
        on_step("Writing the workbook")
        yield (
            WORKBOOK,
            book_of("Estimates", _front(estimates), {titled.name: titled.table for titled in tables}),
        )


def _front(estimates: Estimates) -> list[tuple[str, str]]:
    return [
        ("source", estimates.source),
        *(("finding", sentence) for sentence in findings(estimates)),
        *(("note", note) for note in estimates.notes),
        ("signature", estimates.signature),
    ]
