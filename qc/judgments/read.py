"""Open a source of judgments, detect its format, and read it with its metrics."""

from dataclasses import dataclass
from pathlib import Path

from qc.errors import SourceError
from qc.formats.published import ANSWER
from qc.judgments.csv_table import CsvTable, read_csv
from qc.judgments.judgments import Judgments
from qc.judgments.plain import from_tables
from qc.judgments.remarks import remarks
from qc.loading import LoadOptions, open_source, read_run
from qc.loading.source import RunFile, Source


@dataclass(frozen=True)
class Selection:
    """What to read from a source of judgments.

    Attributes:
        metrics: file with metrics of the outputs; None if there is no such file.
        run: slug or id of a run, if the source is a database that holds several.
        alpha: level of quality control for a run.
        where: a column of the outputs and the required text; None for all outputs. A worker's z is still over
            all their judgments, including other outputs.
    """

    metrics: Path | None = None
    run: str | None = None
    alpha: float = 0.05
    where: tuple[str, str] | None = None


def read_judgments(source: str, selection: Selection | None = None) -> Judgments:
    """Return the judgments that `source` holds, with their metrics.

    Args:
        source: path of a plain CSV of judgments, or any source of `qc.loading`: a run of Candor in a database
            or an export, a hits_data.json, an MTurk batch CSV.
        selection: what to read from it; None for the defaults.

    Raises:
        QcError: as `qc.loading.read_run`, or a plain file is invalid; the error lists all problems.
    """
    selection = selection or Selection()
    metrics = None if selection.metrics is None else _opened_csv(selection.metrics)
    with open_source(source) as opened:
        if isinstance(opened, RunFile) and _is_plain(opened):
            found = from_tables(read_csv(source, opened.file), metrics)
        else:
            found = _of_run(opened, selection, metrics)
    return remarks(found if selection.where is None else found.where(*selection.where))


def _of_run(source: Source, selection: Selection, metrics: CsvTable | None) -> Judgments:
    # Slow to import, and not needed for plain files.
    from qc.judgments.rated_run import from_sample  # noqa: PLC0415
    from qc.method.sample import take_sample  # noqa: PLC0415
    from qc.transcripts.judgments import take_judgments  # noqa: PLC0415

    run = read_run(source, LoadOptions(selection.run, words=False, replies=False))
    take = take_sample if run.items is None else take_judgments
    return from_sample(take(run, selection.alpha), metrics)


def _is_plain(file: RunFile) -> bool:
    """Return whether a file is a CSV, and not one from MTurk."""
    first = file.file.peek(1 << 16).split(b"\n", 1)[0].lstrip(b"\xef\xbb\xbf \t")
    return b"," in first and first[:1] not in (b"{", b"[") and ANSWER.encode() not in first


def _opened_csv(path: Path) -> CsvTable:
    try:
        with path.open("rb") as file:
            return read_csv(str(path), file)
    except OSError as error:
        raise SourceError(
            f"{path}: the file cannot be read ({error.strerror or error}). Check the path."
        ) from None
