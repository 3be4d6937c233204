"""`candor study new|edit|show|copy|archive|delete|list`: manage stored studies.

It also reads the rules of runs from files, for the commands that open or change runs.
"""

import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table
from sqlalchemy import Connection, inspect

from candor.common.files import read_text
from candor.common.terminal import console, fail, stderr
from server.access import people
from server.bots import stored_bots
from server.bots.lineup import mistakes_of
from server.cli.installation import Data, transaction_or_fail
from server.clock import utc_now
from server.db.audit import CommandLine, record
from server.db.runs import studies
from server.db.runs.run_rules import all_rules_of, encrypted_workers, set_rules
from server.db.runs.run_states import end_foreseen
from server.db.runs.runs import find_run
from server.db.runs.studies import StoredStudy
from server.errors import RulesInvalid, StudyInvalid
from server.recruiters.arrival import IdCipher
from server.run_rules import RunRules, parse_rules
from server.study import (
    BLANK,
    DEMO,
    Study,
    load_study,
    named,
    parse_study,
    read_study,
    require_name,
    require_study_name,
)

_ME = CommandLine()
Name = Annotated[str, typer.Argument(metavar="STUDY", help="The study's name.")]
NewName = Annotated[str, typer.Argument(metavar="NEW_NAME", help="A name for the copy.")]
From = Annotated[Path | None, typer.Option("--from", help="A study file to start from; - is standard input.")]
Demo = Annotated[bool, typer.Option("--demo", help="Start from the demo study.")]
File = Annotated[
    Path | None,
    typer.Argument(help="A file with the new text; - is standard input. Without it, $EDITOR opens."),
]
Version = Annotated[int | None, typer.Option("--version", help="An earlier version, by its number.")]
Back = Annotated[bool, typer.Option("--back", help="Restore the study from the archive.")]


def new(study: Name, begin_with: From = None, demo: Demo = False, data: Data = None) -> None:
    """Store a new study: the published instrument without systems, the demo study, or a study file."""
    _require_name(study)
    if begin_with is None:
        text = named((DEMO if demo else BLANK).read_text(encoding="utf-8"), study)
    else:
        text = _file(begin_with)
    with transaction_or_fail(data, begins=True) as connection:
        require_name(text, study)
        stored = studies.create_study(connection, study, text, utc_now(), _ME.name)
        record(connection, _ME, "study.create", study)
        _tell(connection, stored)


def edit(study: Name, file: File = None, data: Data = None) -> None:
    """Save a new version of a study: the newest version edited with $EDITOR, or a file."""
    with transaction_or_fail(data) as connection:
        newest = studies.find_study(connection, study).newest
    text = _in_editor(newest.yaml) if file is None else _file(file)
    try:
        with transaction_or_fail(data) as connection:
            require_name(text, study)
            stored = studies.save_version(connection, study, text, newest.number, utc_now(), _ME.name)
            record(connection, _ME, "study.save", study, f"version {stored.newest.number}")
            _tell(connection, stored)
    except (SystemExit, typer.Exit):
        if file is None:
            kept = Path(tempfile.mkdtemp(prefix="candor-")) / f"{study}.yaml"
            kept.write_text(text, encoding="utf-8")
            stderr.print(f"Your text was saved to {kept}", soft_wrap=True)
        raise


def show(study: Name, version: Version = None, data: Data = None) -> None:
    """Print the text of a study."""
    with transaction_or_fail(data) as connection:
        newest = studies.find_study(connection, study).newest
        found = newest if version is None else studies.find_version(connection, study, version)
    sys.stdout.write(found.yaml)


def copy_(study: Name, new_name: NewName, data: Data = None) -> None:
    """Store the newest version of a study as another study."""
    _require_name(new_name)
    with transaction_or_fail(data) as connection:
        text = named(studies.find_study(connection, study).newest.yaml, new_name)
        stored = studies.create_study(connection, new_name, text, utc_now(), _ME.name)
        record(connection, _ME, "study.copy", new_name, f"of {study}")
        _tell(connection, stored)


def archive(study: Name, back: Back = False, data: Data = None) -> None:
    """Archive a study. Its runs continue, and its data stays."""
    with transaction_or_fail(data) as connection:
        studies.set_archived(connection, study, None if back else utc_now())
        record(connection, _ME, "study.unarchive" if back else "study.archive", study)
    console.print(f"Study [bold]{escape(study)}[/] is {'restored' if back else 'archived'}.")


def delete(study: Name, data: Data = None) -> None:
    """Delete a study that was never opened."""
    with transaction_or_fail(data) as connection:
        studies.delete_study(connection, study)
        people.forget_study(connection, study)
        record(connection, _ME, "study.delete", study)
    console.print(f"Study [bold]{escape(study)}[/] is deleted.")


def list_(data: Data = None) -> None:
    """List studies with their version, number of mistakes, and runs."""
    with transaction_or_fail(data) as connection:
        found, runs = studies.all_studies(connection), studies.runs_of(connection)
    table = Table("study", "version", "saved", "by", "mistakes", "runs", box=None)
    for study in found:
        newest = study.newest
        table.add_row(
            study.name + (" (archived)" if study.archived_at is not None else ""),
            str(newest.number),
            f"{newest.saved_at:%Y-%m-%d %H:%M} UTC",
            escape(newest.saved_by),
            str(len(read_study(newest.yaml)[1])),
            ", ".join(f"{run.run} ({run.status})" for run in runs.get(study.name, [])) or "–",
        )
    console.print(table if found else "There is no study yet. Create one with `candor study new NAME`.")


def stored_text(connection: Connection | None, study: str) -> str | None:
    """Return the newest text of a stored study; None if there is no study of this name."""
    if connection is None or not inspect(connection).has_table("draft"):
        return None  # no database yet, or one from before studies were stored
    return next((each.newest.yaml for each in studies.all_studies(connection) if each.name == study), None)


def study_of(connection: Connection | None, study: Path) -> tuple[Study, str]:
    """Return a study and its text, from a file if it exists, else from the stored study of that name.

    Raises:
        StudyInvalid: the study has mistakes, or neither exists.
    """
    if study.exists():
        return load_study(study)
    text = stored_text(connection, str(study))
    if text is None:
        raise StudyInvalid(
            f"There is neither a file {study} nor a stored study of that name",
            "Check the path or the name. “candor study list” lists the studies in the folder of --data.",
        )
    return parse_study(text, str(study)), text


def _require_name(study: str) -> None:
    """End the command if this is not a valid name for a study."""
    try:
        require_study_name(study)
    except StudyInvalid as error:
        fail(error.message, error.hint)


def _tell(connection: Connection, study: StoredStudy) -> None:
    console.print(f"Study [bold]{study.name}[/] is stored, version {study.newest.number}.")
    mistakes = mistakes_of(study.newest.yaml, stored_bots.names(connection))
    for mistake in mistakes:
        console.print(f"  {escape(mistake.at(study.name))}", soft_wrap=True)
    what = f"candor study {'edit' if mistakes else 'open'} {study.name}{'' if mistakes else ' --run pilot'}"
    console.print(f"{'Correct these mistakes before you open it' if mistakes else 'To open it'}:  {what}")


def _file(path: Path) -> str:
    try:
        return sys.stdin.read() if str(path) == "-" else read_text(path)
    except (OSError, UnicodeDecodeError) as error:
        fail(f"{path}: cannot be read: {error}", "Check the path. A study is a text file in UTF-8.")


def _in_editor(text: str) -> str:
    """Let the user edit `text`, and return the result."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    with tempfile.TemporaryDirectory(prefix="candor-") as folder:
        path = Path(folder) / "study.yaml"
        path.write_text(text, encoding="utf-8")
        try:
            done = subprocess.run([*shlex.split(editor), str(path)], check=False)  # noqa: S603 - the user's own
        except OSError as error:
            fail(f"the editor `{editor}` cannot be started: {error.strerror}", "Set EDITOR, or give a file.")
        if done.returncode != 0:
            fail(f"`{editor}` ended with status {done.returncode}", "Nothing was saved.")
        return path.read_text(encoding="utf-8")


RulesFile = Annotated[
    Path | None,
    typer.Option("--rules", help="A YAML file with the run's rules: target, budget, times, exclusions."),
]


def read_rules_file(path: Path | None) -> RunRules:
    """Return the rules in a file; without a file, rules without any limit. Raises RulesInvalid."""
    if path is None:
        return RunRules()
    try:
        return parse_rules(read_text(path), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise RulesInvalid(f"{path} cannot be read: {error}", "Name a text file with the rules.") from error


def changed_rules(connection: Connection, run: str, rules: RunRules, ids: IdCipher) -> list[str]:
    """Set the rules of a run, and return notes on effects that may be unintended.

    Raises:
        RunNotFound, RulesInvalid: as `set_rules`.
    """
    entry = find_run(connection, run)
    before = all_rules_of(connection, entry.id, ids)
    set_rules(connection, run, rules, encrypted_workers(rules, ids))
    notes = [
        f"Workers of “{name}” may come now: the new rules do not exclude them."
        for name in before.excluded_runs
        if name not in rules.excluded_runs
    ]
    if let_in := set(before.excluded_workers) - set(rules.excluded_workers):
        who = "1 worker who was" if len(let_in) == 1 else f"{len(let_in)} workers who were"
        notes.append(f"{who} excluded by id may come now: the new rules do not exclude them.")
    if entry.status != "closed" and (end := end_foreseen(connection, entry)) is not None:
        notes.append(f"With these rules the run ends at once. {end.reason}")
    return notes


def tell(notes: list[str]) -> None:
    """Print notes on stderr."""
    for note in notes:
        stderr.print(f"[yellow]Note:[/] {escape(note)}", soft_wrap=True)
