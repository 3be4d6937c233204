"""`candor data convert SOURCE TARGET`: write a run in another format."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from candor.common.terminal import Console
from qc.command import (
    CriteriaFile,
    IncludePartial,
    RunName,
    SourceName,
    progress,
    stderr_console,
)
from qc.convert import FORMATS, STEPS, SUFFIXES, Loss, save
from qc.errors import OptionError, OutputError
from qc.loading import LoadOptions, open_source, read_criteria, read_run
from qc.run import Run

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich")


@app.command(
    epilog="[b]hits[/b]: hits_data.json, the normative format of Ji et al. (.json)\n\n"
    "[b]mturk[/b]: a batch of results as downloaded from MTurk (.csv)"
)
def convert(
    source: SourceName,
    target: Annotated[
        Path,
        typer.Argument(
            metavar="TARGET",
            help="The file to write. Its suffix sets the format: .json or .csv.",
        ),
    ],
    to: Annotated[
        str | None,
        typer.Option(
            metavar="FORMAT", help=f"The format, if the suffix does not set it: {', '.join(FORMATS)}."
        ),
    ] = None,
    run: RunName = None,
    include_partial: IncludePartial = False,
    criteria_file: CriteriaFile = None,
    force: Annotated[bool, typer.Option("--force", help="Replace TARGET if it is there.")] = False,
) -> None:
    """Write a run in another format, and list the data that this format cannot hold."""
    with stderr_console() as stderr:
        form = _form(target, to)
        _require_free(source, target, force)
        with progress(stderr, 1 + STEPS) as on_step:
            on_step("Reading the run")
            criteria = read_criteria(criteria_file) if criteria_file else None
            with open_source(source) as opened:
                given = read_run(opened, LoadOptions(run, include_partial, criteria=criteria))
            lost = save(given, target, form, on_step)
    _tell(given, target, form, lost, stderr)


def _form(target: Path, to: str | None) -> str:
    known = ", ".join(FORMATS)
    if to is not None:
        if to not in FORMATS:
            raise OptionError(f"--to is {to!r}, which is no format. Formats are: {known}.")
        return to
    form = SUFFIXES.get(target.suffix.lower())
    if form is None:
        raise OptionError(
            f"{target}: the suffix {target.suffix!r} tells no format. Use one of {', '.join(SUFFIXES)}, "
            f"or give --to with one of {known}."
        )
    return form


def _require_free(source: str, target: Path, force: bool) -> None:
    try:
        there = target.exists()
        itself = there and Path(source).exists() and target.samefile(source)
    except (OSError, ValueError) as error:
        raise OutputError(f"{target}: the file cannot be written ({error}). Name another one.") from None
    if itself:
        raise OutputError(f"{target}: this is the source itself. Name another file.")
    if there and (target.is_dir() or not force):
        remedy = "Name a file in it." if target.is_dir() else "Give --force to replace it."
        raise OutputError(f"{target}: this is there already. {remedy}")


def _tell(run: Run, target: Path, form: str, lost: list[Loss], stderr: Console) -> None:
    output = Console(file=sys.stdout, soft_wrap=True, markup=False)
    output.print(
        f"{target}: {len(run.assignments)} assignments, {len(run.conversations)} conversations, "
        f"{run.ratings.size} ratings ({form}, {target.stat().st_size / 1e6:.1f} MB)."
    )
    if not lost:
        output.print("Nothing is lost.")
        return
    stderr.print("Not held by this format, or not as it was:", style="yellow")
    for loss in lost:
        stderr.print(f"  {loss}", style="yellow")


if __name__ == "__main__":
    app(prog_name="python -m qc.convert")
