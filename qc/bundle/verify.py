"""Verify a bundle by analysing its data again: `python -m qc.bundle.verify BUNDLE`."""

from pathlib import Path
from typing import Annotated

import typer

from qc.bundle.checking import STEPS, check_bundle
from qc.command import output_console, progress, stderr_console

EXIT_DIFFERENT = 1

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich")


@app.command()
def verify(
    bundle: Annotated[Path, typer.Argument(metavar="BUNDLE", help="An archive of `candor data bundle`.")],
) -> None:
    """Compare each file of a bundle with its hash, analyse its data again, and list the differences.

    The exit status is 0 without differences, 1 with differences, and 2 if the file is not a bundle.
    """
    with stderr_console() as stderr, progress(stderr, STEPS) as on_step:
        checked = check_bundle(bundle, on_step)
    console = output_console()
    for line in (*checked.remarks, *checked.differences):
        console.print(line, soft_wrap=True)
    if checked.differences:
        console.print(f"{bundle}: NOT verified, {len(checked.differences)} differences.", soft_wrap=True)
        raise typer.Exit(EXIT_DIFFERENT)
    if checked.refused is None:
        what = "The data give the same report and the same signature"
    else:
        what = "There is no report, as the data cannot be analysed, but they have the same signature"
    console.print(f"{bundle}: verified. {what}:", soft_wrap=True)
    console.print(f"{checked.signature}", soft_wrap=True)


if __name__ == "__main__":
    app(prog_name="python -m qc.bundle.verify")
