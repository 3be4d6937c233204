"""Pack a run with its study and report for others to analyse: `python -m qc.bundle SOURCE BUNDLE`."""

import hashlib
from pathlib import Path
from typing import Annotated

import typer

from qc.bundle.certificate import BADGE, CERTIFICATE, LINE
from qc.bundle.making import STEPS, Bundled, make_bundle
from qc.command import (
    Alpha,
    Bootstrap,
    CriteriaFile,
    IncludePartial,
    ProgressLines,
    Reward,
    RunName,
    Seed,
    SourceName,
    output_console,
    progress,
    stderr_console,
)
from qc.errors import OutputError, SourceError
from qc.formats.published import BEGINNING, PEEKED
from qc.loading import LoadOptions, is_database, open_source, read_criteria, read_run
from qc.loading.registration import read_registration
from qc.options import AnalysisOptions, OnStep
from qc.run import Run

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich")


@app.command()
def bundle(
    source: SourceName,
    target: Annotated[Path, typer.Argument(metavar="BUNDLE", help="The archive to write, a .zip.")],
    run: RunName = None,
    replicate: Annotated[
        str | None,
        typer.Option(
            metavar="SOURCE2", help="A second run of the experiment, to compare with; it is packed too."
        ),
    ] = None,
    replicate_run: Annotated[
        str | None,
        typer.Option(metavar="RUN", help="Its slug or id, if SOURCE2 is a database that holds several."),
    ] = None,
    study: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The study file; read it before it is published.")
    ] = None,
    preregistration: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="A file of `candor study preregister`, to pack and to compare with."
        ),
    ] = None,
    alpha: Alpha = 0.05,
    bootstrap: Bootstrap = 10_000,
    seed: Seed = 0,
    reward: Reward = None,
    criteria_file: CriteriaFile = None,
    include_partial: IncludePartial = False,
    force: Annotated[bool, typer.Option("--force", help="Replace BUNDLE if it is there.")] = False,
    progress_lines: ProgressLines = False,
) -> None:
    """Pack a run under pseudonyms, with its study, its report, its certificate and its signature.

    Workers in a file get new names. Workers in a server's database, and in its export of a whole run, have
    pseudonyms already.
    """
    with stderr_console() as stderr:
        if target.exists() and not force:
            raise OutputError(f"{target}: this is there already. Give --force to replace it.")
        options = AnalysisOptions(alpha=alpha, seed=seed, bootstrap=bootstrap, reward=reward)
        asked = LoadOptions(
            run, include_partial, criteria=read_criteria(criteria_file) if criteria_file else None
        )
        with progress(stderr, STEPS + (1 if replicate is None else 2), lines=progress_lines) as on_step:
            bundled = _read(source, asked, replicate, replicate_run, (study, preregistration), on_step)
            manifest, lost = make_bundle(bundled, options, target, on_step)
    console = output_console()
    size = target.stat().st_size / 1e6
    console.print(f"{target}: {len(manifest.files) + 1} files, {size:.1f} MB.", soft_wrap=True)
    if manifest.workers == "renamed":
        console.print(
            "Workers have other names in it. What they wrote is in it: read it before you publish it."
        )
    if lost:
        console.print("The bundle lacks what `candor data export --format bundle` would hold:")
        for loss in lost:
            console.print(f"  {loss}")
    if _is_another_study(bundled):
        console.print(
            "The study in it is not, word for word, what the run was opened with: is it the run's own?",
            soft_wrap=True,
        )
    console.print(f"Signature: {manifest.signature}", soft_wrap=True)
    if CERTIFICATE in manifest.files:
        console.print(
            f"{CERTIFICATE} says what the run shows, {BADGE} shows it, and {LINE} has it for a paper.",
            soft_wrap=True,
        )


def _read(
    source: str,
    asked: LoadOptions,
    replicate: str | None,
    replicate_run: str | None,
    papers: tuple[Path | None, Path | None],
    on_step: OnStep,
) -> Bundled:
    """Read what is packed; `papers` are the files of the study and of the preregistration."""
    study, preregistration = papers
    if preregistration is not None:
        read_registration(preregistration)  # refuses a file that was changed, before the analysis
    on_step("Reading the run")
    first, of_server = _loaded(source, asked)
    second = None
    if replicate is not None:
        on_step("Reading the second run")
        criteria = asked.criteria
        other = LoadOptions(replicate_run, asked.include_partial, criteria=criteria, option="--replicate-run")
        second, second_of_server = _loaded(replicate, other)
        of_server = of_server and second_of_server
    return Bundled(
        first,
        second,
        not of_server,
        None if study is None else _content(study),
        _export(source, asked),
        None if preregistration is None else _content(preregistration),
    )


def _is_another_study(bundled: Bundled) -> bool:
    """Return whether the packed study is known to differ from the server's study of the run."""
    state = bundled.run.state
    if bundled.study is None or state is None:
        return False
    return hashlib.sha256(bundled.study).hexdigest()[: len(state.study_hash)] != state.study_hash


def _export(source: str, asked: LoadOptions) -> Path | None:
    """Return the path of the source if it is a JSON Lines export that the bundle can hold unchanged.

    Return None if options change how the source is read: the bundle then holds the data as they were read.
    """
    path = Path(source)
    if asked.include_partial or asked.criteria is not None or not path.is_file():
        return None
    with path.open("rb") as file:
        return path if BEGINNING.match(file.readline(PEEKED)) else None


def _loaded(source: str, asked: LoadOptions) -> tuple[Run, bool]:
    """Return the run, and whether its workers already have a server's pseudonyms."""
    with open_source(source) as opened:
        return read_run(opened, asked), is_database(opened)


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise SourceError(f"{path}: this file cannot be read ({error.strerror or error}).") from None


if __name__ == "__main__":
    app(prog_name="python -m qc.bundle")
