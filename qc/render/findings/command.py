"""Options, output files and printing shared by the commands that return findings."""

from pathlib import Path
from typing import Annotated

import typer

from candor.common.terminal import Console
from qc.command import names_in, output_console, progress
from qc.render import FORMATS, writing_steps
from qc.render.findings import Findings, show_findings, write_findings

Metrics = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="CSV with metrics of the outputs, by output or by item and system."),
]
Criterion = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Criterion to compare. Default: the only one, or `overall`, or the mean of all criteria.",
    ),
]
PerWorkerZ = Annotated[bool, typer.Option("--z", help="Take judgments standardised per worker.")]
Out = Annotated[Path | None, typer.Option(help="Output directory; created if missing.", metavar="DIR")]
Formats = Annotated[
    str,
    typer.Option(
        "--format", metavar="NAMES", help=f"What to write, separated by commas: {', '.join(FORMATS)}."
    ),
]


def wanted_formats(given: str, out: Path | None) -> frozenset[str]:
    """Return the formats that `--format` names; none without `--out`.

    Raises:
        OptionError: a format is unknown.
    """
    names = names_in("--format", given, FORMATS)
    return names if out else frozenset()


def write_all(found: Findings, out: Path | None, formats: frozenset[str], stderr: Console) -> list[Path]:
    """Write the findings and return the files; without a directory, write nothing."""
    if out is None:
        return []
    with progress(stderr, writing_steps(formats)) as on_step:
        return write_findings(found, out, formats, on_step)


def tell(found: Findings, out: Path | None, files: list[Path]) -> None:
    """Print the findings and the location of the files on stdout."""
    console = output_console()
    show_findings(found, console)
    if out is None:
        console.print("Nothing was written. With --out DIR you get a page, tables and figures.")
    elif files:
        console.print(f"{len(files)} files written to {out}; begin with {files[0].name}.", soft_wrap=True)
