"""`candor data convert SOURCE TARGET`: write a run, conversations or votes in another format."""

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
from qc.convert import FORMATS, STEPS, SUFFIXES, Loss, exchange, save
from qc.convert.exchange.runs import content_of
from qc.errors import OptionError, OutputError
from qc.loading import LoadOptions, open_source, read_criteria, read_run
from qc.loading.tables import STANDARD_INPUT
from qc.run import Run

_KNOWN = (*FORMATS, *exchange.WRITTEN)

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich")


@app.command(
    epilog="[b]hits[/b]: hits_data.json, the normative format of Ji et al. (.json)\n\n"
    "[b]mturk[/b]: a batch of results as downloaded from MTurk (.csv)\n\n"
    "[b]items[/b]: conversations to be rated, for a study of transcripts (.jsonl)\n\n"
    "[b]openai[/b], [b]sharegpt[/b], [b]parlai[/b]: transcripts (.jsonl)\n\n"
    "[b]arena[/b], [b]dpo[/b]: votes as LMArena publishes them, and pairs of preferences (.jsonl)\n\n"
    "[b]convokit[/b]: a corpus of transcripts, in a folder\n\n"
    "[b]huggingface[/b]: a data set of transcripts or votes, in a folder"
)
def convert(
    source: SourceName,
    target: Annotated[
        Path,
        typer.Argument(
            metavar="TARGET",
            help="The file or folder to write. The suffix .json or .csv sets the format.",
        ),
    ],
    to: Annotated[
        str | None,
        typer.Option(
            metavar="FORMAT", help=f"The format, if the suffix does not set it: {', '.join(_KNOWN)}."
        ),
    ] = None,
    run: RunName = None,
    include_partial: IncludePartial = False,
    criteria_file: CriteriaFile = None,
    system: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The system of conversations that do not name theirs."),
    ] = None,
    speaker: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The speaker who is the system, in formats of speakers. By default the second to speak.",
        ),
    ] = None,
    simulated: Annotated[
        bool, typer.Option("--simulated", help="Convert simulated workers only, not people.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace TARGET if it is there.")] = False,
) -> None:
    """Write a run, conversations or votes in another format, and list the data that it cannot hold.

    SOURCE is what `candor report` reads, or a file or folder in one of the formats for conversations and
    votes, which is detected by its first line. Those become items to be rated unless you give --to.
    """
    with stderr_console() as stderr:
        given = None if source == STANDARD_INPUT or "://" in source else exchange.format_of(Path(source))
        form = _form(target, to, exchanged=given is not None)
        _require_free(source, target, form, force)
        _require_effect(given, simulated, system=system, speaker=speaker)
        if form in FORMATS and given is not None:
            raise OptionError(
                f"{source}: conversations and votes hold no run, and {form!r} is a format of runs. "
                f"Give --to with one of {', '.join(exchange.WRITTEN)}."
            )
        with progress(stderr, 1 + STEPS) as on_step:
            if given is not None:
                on_step(f"Reading {given}")
                content = exchange.read(Path(source), given, exchange.Naming(system, speaker))
            else:
                on_step("Reading the run")
                criteria = read_criteria(criteria_file) if criteria_file else None
                options = LoadOptions(run, include_partial, criteria=criteria, simulated=simulated)
                with open_source(source) as opened:
                    if form in FORMATS:
                        read = read_run(opened, options)
                    else:
                        content = content_of(opened, options)
            if form in FORMATS:
                lost = save(read, target, form, on_step)
            else:
                on_step(f"Checking what {form} can hold")
                lost = exchange.losses(content, form)
                on_step(f"Writing {target}")
                exchange.save(content, target, form)
    _tell(_counted(read) if form in FORMATS else exchange.size_of(content), target, form, lost, stderr)


def _form(target: Path, to: str | None, *, exchanged: bool) -> str:
    known = ", ".join(_KNOWN)
    if to is not None:
        if to not in _KNOWN:
            raise OptionError(f"--to is {to!r}, which is no format. Formats are: {known}.")
        return to
    if exchanged:
        return exchange.ITEMS
    form = SUFFIXES.get(target.suffix.lower())
    if form is None:
        raise OptionError(
            f"{target}: the suffix {target.suffix!r} tells no format. Use one of {', '.join(SUFFIXES)}, "
            f"or give --to with one of {known}."
        )
    return form


def _require_effect(given: str | None, simulated: bool, **naming: str | None) -> None:
    """Refuse names of systems where the source is a run, and a choice of workers where it is none."""
    if given is not None and simulated:
        raise OptionError(
            f"--simulated would have no effect: the source is a file of the format {given!r}, which holds no "
            "run. Leave out."
        )
    without = [f"--{option}" for option, name in naming.items() if name is not None]
    if given is None and without:
        raise OptionError(
            f"{' and '.join(without)} would have no effect: the source names its systems. Leave out."
        )


def _require_free(source: str, target: Path, form: str, force: bool) -> None:
    try:
        there = target.exists()
        itself = there and Path(source).exists() and target.samefile(source)
    except (OSError, ValueError) as error:
        raise OutputError(f"{target}: the file cannot be written ({error}). Name another one.") from None
    if itself:
        raise OutputError(f"{target}: this is the source itself. Name another file.")
    if there and (target.is_dir() or not force):
        is_folder = form in exchange.FOLDERS
        inside = "Name another folder." if is_folder else "Name a file in it."
        remedy = inside if target.is_dir() else "Give --force to replace it."
        raise OutputError(f"{target}: this is there already. {remedy}")


def _counted(run: Run) -> str:
    numbers = {
        "assignment": len(run.assignments),
        "conversation": len(run.conversations),
        "rating": run.ratings.size,
    }
    return ", ".join(f"{number} {noun if number == 1 else noun + 's'}" for noun, number in numbers.items())


def _tell(counted: str, target: Path, form: str, lost: list[Loss], stderr: Console) -> None:
    output = Console(file=sys.stdout, soft_wrap=True, markup=False)
    files = target.rglob("*") if target.is_dir() else [target]
    size = sum(file.stat().st_size for file in files if file.is_file())
    output.print(f"{target}: {counted} ({form}, {size / 1e6:.1f} MB).")
    if not lost:
        output.print("Nothing is lost.")
        return
    stderr.print("Not held by this format, or not as it was:", style="yellow")
    for loss in lost:
        stderr.print(f"  {loss}", style="yellow")


if __name__ == "__main__":
    app(prog_name="python -m qc.convert")
