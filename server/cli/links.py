"""`candor links`: a personal, signed link for each worker of a list."""

import csv
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from pydantic import TypeAdapter, ValidationError

from bots import fail, stderr
from server.access.auth import load_auth
from server.cli.database import transaction
from server.cli.settings import Data, settings_from
from server.db.runs import find_run
from server.desk.csv_table import csv_table
from server.errors import CandorError
from server.recruiters.arrival import WorkerId
from server.recruiters.link import personal_link

_COLUMN = "worker"
_worker_ids: TypeAdapter[str] = TypeAdapter(WorkerId)
cli = typer.Typer(pretty_exceptions_enable=False, add_completion=False)


@cli.command()
def links(
    run: Annotated[str, typer.Argument(help="The run's name.")],
    workers: Annotated[
        Path,
        typer.Option(
            help="Their ids: one a line, or a CSV file with a column `worker`. - is the standard input."
        ),
    ],
    as_csv: Annotated[
        bool, typer.Option("--csv", help="Print CSV with the columns worker and link, not one link a line.")
    ] = False,
    data: Data = None,
) -> None:
    """Print a personal link for each worker. Nobody can make one for another id.

    With CANDOR_SIGNED_LINKS=true the server takes nobody without such a link.
    """
    settings = settings_from(data=data)
    try:
        ids = _read(workers)
        with transaction(settings) as connection:
            find_run(connection, run)
        auth = load_auth(settings.data, settings.token_days, settings.worker_id_key)
    except CandorError as error:
        fail(error.message, error.hint)
    url = settings.resolved_public_url
    signed = [(worker, personal_link(url, run, worker, auth.link_signature(run, worker))) for worker in ids]
    printed = csv_table([_COLUMN, "link"], signed) if as_csv else "".join(f"{link}\n" for _, link in signed)
    sys.stdout.write(printed)
    stderr.print(f"{len(ids)} personal links to run [bold]{run}[/], at {url}.", soft_wrap=True)
    if settings.public_url is None:
        stderr.print("[yellow]Set CANDOR_PUBLIC_URL[/] to the address at which workers reach the server.")


def _read(path: Path) -> list[str]:
    """Return the workers' ids in a file, in its order. Raises CandorError: it is not such a list."""
    name = "the standard input" if str(path) == "-" else str(path)
    try:
        content = (sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()).decode("utf-8-sig")
        rows = list(csv.reader(content.splitlines()))
    except OSError as error:
        raise CandorError(f"{name}: cannot be read: {error.strerror}", "Check the path.") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise CandorError(f"{name}: is no CSV in UTF-8: {error}", "Save the list as CSV, UTF-8.") from error
    found: dict[str, int] = {}
    for line, written in _cells(rows, name):
        worker = _checked(written, f"{name}, line {line}")
        if worker in found:
            raise CandorError(
                f"{name}, line {line}: the worker `{worker}` is in line {found[worker]} already",
                "Give each worker an id of their own: whoever has the same link goes on as the same worker.",
            )
        found[worker] = line
    if not found:
        raise CandorError(f"{name}: there is no worker in it", "Write one id a line.")
    return list(found)


def _cells(rows: list[list[str]], name: str) -> Iterator[tuple[int, str]]:
    """Yield the ids as they were written, each with its line, counted from 1."""
    header = [cell.strip().lower() for cell in rows[0]] if rows else []
    if _COLUMN not in header and any(len(row) > 1 for row in rows):
        raise CandorError(
            f"{name}: it has several columns, and none is named `{_COLUMN}`",
            f"Name the column of the ids `{_COLUMN}` in the first line, or leave only that column.",
        )
    column = header.index(_COLUMN) if _COLUMN in header else 0
    for line, row in enumerate(rows, start=1):
        if (line > 1 or _COLUMN not in header) and any(cell.strip() for cell in row):
            yield line, row[column] if column < len(row) else ""


def _checked(written: str, where: str) -> str:
    try:
        return _worker_ids.validate_python(written)
    except ValidationError as error:
        reason = error.errors(include_url=False, include_input=False)[0]["msg"]
        raise CandorError(
            f"{where}: that cannot be a worker's id: {reason}",
            "An id has 1 to 200 characters, none of them a control character.",
        ) from error
