"""`candor export`: a run as a file."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from bots import console, fail
from server.access.auth import load_auth
from server.cli.database import transaction_or_fail
from server.cli.settings import Data, settings_from
from server.db.audit import CommandLine
from server.db.runs import find_run
from server.desk.choice_export import export_choices
from server.desk.export import Json, export_run
from server.desk.item_export import export_items
from server.desk.worker_ids import Sought, identities, identities_csv
from server.study import parse_study

_LINES = {
    "transcripts": (export_items, "item_ratings.jsonl"),
    "side_by_side": (export_choices, "choices.jsonl"),
}
cli = typer.Typer(pretty_exceptions_enable=False, add_completion=False)


@cli.command()
def export(
    run: Annotated[str, typer.Option("--run", help="The run's name.")],
    out: Annotated[
        Path | None,
        typer.Option(
            help="The file to write.",
            show_default="hits_data.json, item_ratings.jsonl, choices.jsonl or worker_ids.csv",
        ),
    ] = None,
    worker_ids: Annotated[
        bool, typer.Option("--worker-ids", help="Write whom the pseudonyms stand for instead: keep it apart.")
    ] = False,
    data: Data = None,
) -> None:
    """Write the completed assignments of a run to a file.

    A run in which workers chat with one system at a time is written in the published experiment's format, one
    in which they rate items or compare two systems as JSON Lines.
    """
    with transaction_or_fail(data) as connection:
        found = find_run(connection, run)
        task = parse_study(found.yaml).task
        if worker_ids:
            settings = settings_from(data=data)
            auth = load_auth(settings.data, settings.token_days, settings.worker_id_key)
            people = identities(connection, auth, CommandLine(), run, Sought())
            number, written, name = len(people), identities_csv(people), "worker_ids.csv"
        elif task == "chat":
            content = export_run(connection, found)
            number = len(content["data"])
            written, name = json.dumps(content, indent=1, ensure_ascii=False) + "\n", "hits_data.json"
        else:
            export_lines, name = _LINES[task]
            lines = list(export_lines(connection, found))
            number = len(lines) - 1
            written = _json_lines(lines)
    out = out or Path(name)
    try:
        out.write_text(written, encoding="utf-8")
    except OSError as error:
        fail(f"{out}: cannot be written: {error.strerror}", "Choose another file with --out.")
    console.print(f"{number} assignments written to {out}.")


def _json_lines(lines: Sequence[Json]) -> str:
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
