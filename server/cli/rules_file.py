"""The rules of a run as a command reads them."""

from pathlib import Path
from typing import Annotated

import typer

from server.errors import RulesInvalid
from server.run_rules import RunRules, parse_rules

RulesFile = Annotated[
    Path | None,
    typer.Option("--rules", help="Rules of the run (YAML): its target, its budget, when and whom it takes."),
]


def read_rules_file(path: Path | None) -> RunRules:
    """Return the rules that a file gives, or without one such as limit nothing. Raises RulesInvalid."""
    if path is None:
        return RunRules()
    try:
        return parse_rules(path.read_text(encoding="utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise RulesInvalid(f"{path} cannot be read: {error}", "Name a text file with the rules.") from error
