"""Read the rules of a run from a file, and change them with notes on side effects."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from sqlalchemy import Connection

from candor.common.files import read_text
from candor.common.terminal import stderr
from server.db.runs.run_rules import all_rules_of, encrypted_workers, set_rules
from server.db.runs.run_states import end_foreseen
from server.db.runs.runs import find_run
from server.errors import RulesInvalid
from server.recruiters.arrival import IdCipher
from server.run_rules import RunRules, parse_rules

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
        f"Workers of `{name}` may come now: the new rules do not exclude them."
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
