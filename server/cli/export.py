"""`candor export`: a run as a file."""

import json
from pathlib import Path
from typing import Annotated

import typer

from bots import console, fail
from server.cli.database import transaction_or_fail
from server.cli.settings import Data
from server.db.runs import find_run
from server.desk.export import export_run

cli = typer.Typer(pretty_exceptions_enable=False, add_completion=False)


@cli.command()
def export(
    run: Annotated[str, typer.Option("--run", help="The run's name.")],
    out: Annotated[Path, typer.Option(help="The file to write.")] = Path("hits_data.json"),
    data: Data = None,
) -> None:
    """Write the completed assignments of a run to a file, in the published experiment's format."""
    with transaction_or_fail(data) as connection:
        content = export_run(connection, find_run(connection, run))
    try:
        out.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    except OSError as error:
        fail(f"{out}: cannot be written: {error.strerror}", "Choose another file with --out.")
    console.print(f"{len(content['data'])} assignments written to {out}.")
