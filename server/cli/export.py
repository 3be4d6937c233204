"""`candor data export`: write a run to a file."""

import asyncio
import json
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryDirectory
from typing import Annotated

import typer
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from candor.common.terminal import console, fail, stderr
from server.access.auth import load_auth
from server.cli.installation import (
    Data,
    require_id_key,
    require_secrets,
    settings_from,
    snapshot_or_fail,
    transaction_or_fail,
)
from server.db.audit import CommandLine
from server.db.runs.runs import RunEntry, find_run
from server.desk.runs.worker_lists import Sought, identities, identities_csv
from server.export.formats import Format, OnStep, file_name, has_assignments, replaced, write_run
from server.jobs.child import ChildCommand, ChildFailed, ChildLimits, run_child, told_progress
from server.study import published

cli = typer.Typer(pretty_exceptions_enable=False, add_completion=False)


@cli.command()
def export(
    run: Annotated[str, typer.Option("--run", help="The run's name.")],
    form: Annotated[
        Format,
        typer.Option(
            "--format",
            help="hits_data: submitted assignments, in the published form. jsonl, parquet, csv: the whole "
            "run. bundle: the whole run with its study, a report and a signature.",
        ),
    ] = "hits_data",
    out: Annotated[
        Path | None,
        typer.Option(help="The file to write.", show_default="named after the run and the format"),
    ] = None,
    worker_ids: Annotated[
        bool,
        typer.Option(
            "--worker-ids", help="Write the platform ids of the pseudonyms instead. Keep that file separate."
        ),
    ] = False,
    progress_lines: Annotated[bool, typer.Option("--progress-lines", hidden=True)] = False,
    data: Data = None,
) -> None:
    """Write a run to a file. The server may keep running: the file is one snapshot.

    hits_data contains the completed assignments: as hits_data.json of the published experiment if workers
    chat with one system at a time, and as JSON Lines if they rate items or compare two systems. The other
    formats contain every assignment in full, and `candor report` gives the same results for them as for the
    database. If the export fails, no file is written.
    """
    signal.signal(signal.SIGTERM, _end)
    if worker_ids:
        _write_ids(run, out or Path("worker_ids.csv"), data)
        return
    with TemporaryDirectory() as folder, _progress(progress_lines) as on_step:
        with snapshot_or_fail(data) as connection:
            found = find_run(connection, run)
            path = out or Path(file_name(found, form))
            if path.is_dir():
                fail(f"{path} is a folder", "Name a file in it with --out.")
            views = Path(folder) / f"{found.slug}.jsonl"
            with _writable(path):
                if form != "bundle":
                    write_run(connection, found, form, path, on_step)
                else:
                    write_run(connection, found, "jsonl", views, on_step)
            is_empty = not has_assignments(connection, found, form)
        if form == "bundle":  # this takes long and no longer needs the database
            _bundle(found, views, path, data, on_step)
    size = path.stat().st_size / 1e6
    console.print(f"The run {run} is written to {path} ({form}, {size:.1f} MB).", soft_wrap=True)
    if is_empty:
        lacking = "No assignment is completed yet" if form == "hits_data" else "No worker has come yet"
        stderr.print(f"[yellow]Note:[/] {lacking}, so the file contains no assignment.", soft_wrap=True)


def _end(_signal: int, _frame: object) -> None:
    """Exit by an exception, so that temporary files and child processes are cleaned up."""
    raise SystemExit(128 + signal.SIGTERM)


@contextmanager
def _writable(path: Path) -> Iterator[None]:
    """End the command if `path` cannot be written. The message names `path`, not the temporary file."""
    try:
        yield
    except OSError as error:
        fail(f"{path}: cannot be written: {error.strerror}", "Choose another file with --out.")


def _write_ids(run: str, path: Path, data: Path | None) -> None:
    with transaction_or_fail(data) as connection:
        settings = settings_from(data=data)
        require_secrets(settings, connection)
        require_id_key(settings, connection)
        auth = load_auth(settings.data, settings.token_days, settings.worker_id_key)
        people = identities(connection, auth, CommandLine(), run, Sought())
    with _writable(path), replaced(path) as file:
        file.write(identities_csv(people).encode())
    console.print(f"{len(people)} assignments written to {path}.")


def _bundle(run: RunEntry, views: Path, path: Path, data: Path | None, on_step: OnStep) -> None:
    """Make a bundle of a run's views with `candor data bundle` in a child process.

    The bundle is made beside the views and then moved, so that a failure leaves no file at `path`.
    """
    settings = settings_from(data=data)
    study, made = views.with_name("study.yaml"), views.with_name("made.zip")
    study.write_text(published(run.yaml), encoding="utf-8")
    arguments = (str(views), str(made), "--study", str(study), "--progress-lines")
    limits = ChildLimits(settings.job_megabytes, settings.job_minutes * 60)
    try:
        asyncio.run(run_child(ChildCommand("qc.bundle", arguments, {}), limits, told_progress(on_step)))
    except ChildFailed as error:
        fail(f"the bundle was not made: {error}")
    with _writable(path), made.open("rb") as content, replaced(path) as file:
        copyfileobj(content, file)


@contextmanager
def _progress(lines: bool) -> Iterator[OnStep]:
    """Show a progress bar on a terminal, or print each step as a line of JSON for the parent process."""
    if lines:
        yield _line
        return
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=stderr, transient=True, disable=not stderr.is_terminal) as bar:
        task = bar.add_task("")

        def on_step(what: str, done: int, total: int) -> None:
            bar.update(task, description=what, completed=done, total=total)

        yield on_step


def _line(what: str, done: int, total: int) -> None:
    sys.stdout.write(json.dumps({"step": what, "done": done, "total": total}) + "\n")
    sys.stdout.flush()
