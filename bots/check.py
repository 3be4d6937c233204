"""The command that says whether a bot is fit for workers: `candor bots check NAME`."""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from bots.builtin import UnknownBotError, open_bot
from bots.conformance.check import check_bot
from bots.conformance.report import ConformanceReport, coloured, conformance_table, transcript
from bots.conformance.script import AT_ONCE, MOST_AT_ONCE
from bots.corpus import CorpusError, load_corpus
from bots.researcher_api import (
    SERVER,
    CheckAnswer,
    Data,
    NoAccess,
    RequestFailed,
    ResearcherClient,
    Server,
    Token,
    access,
    confirmed,
)
from candor.common.files import read_text
from candor.common.terminal import Yes, console, fail, stderr

BOT_TRY = 20.0  # seconds; a study's default unless its `timeouts` say otherwise
_CORPUS = "builtin:smalltalk"
_PAUSE = 0.3  # seconds between two requests for the state of a check on the server
cli = typer.Typer(pretty_exceptions_enable=False, add_completion=False)


@cli.command()
def check(
    name: Annotated[str, typer.Argument(help="A bot registered with the server; or builtin:NAME, or qc.")],
    study: Annotated[
        Path | None,
        typer.Option(
            help="The study for which to check a registered bot: its language, personas, slots and times. "
            "Default: the study of the newest run with this bot."
        ),
    ] = None,
    at_once: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=MOST_AT_ONCE,
            help="Conversations at the same time. Default: as many as the study has slots.",
        ),
    ] = None,
    json: Annotated[
        Path | None, typer.Option("--json", help="Write the report, with the transcripts, to this file.")
    ] = None,
    transcripts: Annotated[bool, typer.Option(help="Print the three conversations.")] = False,
    yes: Yes = False,
    server: Server = SERVER,
    token: Token = None,
    data: Data = None,
) -> None:
    """Check whether a bot is fit for workers, with three scripted conversations, then many at once.

    To check the bots of a study file, use `candor study check FILE --bots`. If the calls may cost money, you
    are asked first; the question shows how many calls are planned, to whom, and at what price.

    Exit status: 0 if the bot passes, with or without warnings; 1 if it fails; 2 if it could not be checked.

    Examples:

    candor bots check my-model

    candor bots check my-model --study study.yaml --json report.json

    candor bots check builtin:retrieval
    """
    is_builtin = name == "qc" or name.startswith("builtin:")
    if is_builtin and study is not None:
        fail(
            f"--study is for bots that are registered with the server, and {name} is a builtin one:"
            f" to check the bots of a study, use `candor study check {study} --bots`"
        )
    try:
        if is_builtin:
            report = _check_builtin(name, at_once or AT_ONCE)
        else:
            with ResearcherClient(access(server, token, data)) as client:
                report = _check_registered(client, name, study, at_once, yes=yes)
    except (UnknownBotError, CorpusError, NoAccess, RequestFailed) as error:
        fail(str(error))
    if json is not None:
        _write(json, report)
    if transcripts:
        for held in report.transcripts:
            console.print(transcript(held))
    console.print(conformance_table(report))
    console.print(f"[bold]{escape(name)}[/]: {coloured(report.verdict)}. {_MEANING[report.verdict]}")
    if report.verdict == "fail":
        raise typer.Exit(1)


_MEANING = {
    "pass": "It is fit for workers.",
    "warn": "It can be given to workers; read the warnings first.",
    "fail": "It is not fit for workers: a study with it does not start, unless told to.",
}


def _check_builtin(name: str, at_once: int) -> ConformanceReport:
    """Check a builtin bot, without a server, and without judging its speed against a study.

    Raises:
        UnknownBotError, CorpusError: it cannot be opened.
    """
    bot = open_bot(name, load_corpus(_CORPUS))
    names = (name.removeprefix("builtin:"),)
    with _progress(name) as progress:
        return asyncio.run(
            check_bot(bot, names=names, at_once=at_once, delays=(), patience=BOT_TRY, progress=progress)
        )


def _check_registered(
    client: ResearcherClient, name: str, study: Path | None, at_once: int | None, *, yes: bool
) -> ConformanceReport:
    """Let the server check a bot, and wait for the report. Raises RequestFailed."""
    text = None if study is None else _read(study)
    view: CheckAnswer | None = confirmed(client.start_check, name, text, at_once, yes=yes)
    with _progress(name) as progress:
        while view is not None and view.state == "running":
            progress(view.done, view.total)
            time.sleep(_PAUSE)
            view = client.check(name)
    if view is None or view.report is None:
        reason = view.error if view is not None and view.error else "it is gone from the server"
        raise RequestFailed(f"the check of {name} failed: {reason}")
    return view.report


@contextmanager
def _progress(name: str) -> Iterator[Callable[[int, int], None]]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=stderr, transient=True) as progress:
        bar = progress.add_task(f"asking {escape(name)}", total=None)
        yield lambda done, total: progress.update(bar, completed=done, total=total or None)


def _read(path: Path) -> str:
    try:
        return read_text(path)
    except (OSError, UnicodeDecodeError) as error:
        fail(f"{path}: cannot be read: {error}; give the study's file with --study")


def _write(path: Path, report: ConformanceReport) -> None:
    try:
        path.write_text(report.model_dump_json(indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        fail(f"{path}: cannot be written: {error.strerror}; choose another file with --json")


if __name__ == "__main__":
    cli()
