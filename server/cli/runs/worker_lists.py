"""`candor recruit links` and `candor recruit credits`: print a line for each worker of a run."""

import sys
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from candor.common.files import read_file
from candor.common.terminal import console, fail, stderr
from server.access.auth import load_signer
from server.cli.installation import Data, require_secrets, settings_from, transaction, transaction_or_fail
from server.db.audit import CommandLine
from server.db.runs.runs import find_run
from server.desk.runs.worker_lists import ask_for_refused, credit_view, links_csv, read_workers, signed_links
from server.errors import CandorError


def links(
    run: Annotated[str, typer.Argument(help="The run's name.")],
    workers: Annotated[
        Path,
        typer.Option(
            help="A file of workers' ids: one per line, or CSV with a column `worker`. - is standard input."
        ),
    ],
    as_csv: Annotated[
        bool, typer.Option("--csv", help="Print CSV with the columns worker and link, not one link per line.")
    ] = False,
    data: Data = None,
) -> None:
    """Print a personal link for each worker. The signature prevents use with another id.

    With CANDOR_SIGNED_LINKS=true the server admits only workers with such a link.
    """
    settings = settings_from(data=data)
    try:
        ids = _read(workers)
        with transaction(settings) as connection:
            find_run(connection, run)
            require_secrets(settings, connection)
        auth = load_signer(settings.data, settings.token_days)
    except CandorError as error:
        fail(error.message, error.hint)
    url = settings.resolved_public_url
    signed = signed_links(auth, url, run, ids)
    printed = links_csv(signed) if as_csv else "".join(f"{link}\n" for _, link in signed)
    sys.stdout.write(printed)
    stderr.print(f"{len(ids)} personal links to run [bold]{run}[/], at {url}.", soft_wrap=True)
    if settings.public_url is None:
        stderr.print("[yellow]Set CANDOR_PUBLIC_URL[/] to the address at which workers reach the server.")


def _read(path: Path) -> list[str]:
    """Return the workers' ids in a file, in its order. Raises CandorError if it is not such a list."""
    name = "the standard input" if str(path) == "-" else str(path)
    try:
        content = (sys.stdin.buffer.read() if str(path) == "-" else read_file(path)).decode("utf-8")
    except OSError as error:
        raise CandorError(f"{name}: cannot be read: {error.strerror}", "Check the path.") from error
    except UnicodeDecodeError as error:
        raise CandorError(f"{name}: is not UTF-8 text: {error}", "Save the list as CSV, UTF-8.") from error
    return read_workers(content, name)


def student_credits(
    run: Annotated[str, typer.Argument(metavar="RUN", help="The run's name.")],
    again: Annotated[
        bool, typer.Option("--again", help="Request the credits that SONA refused once more.")
    ] = False,
    data: Data = None,
) -> None:
    """List students with the state of their SONA credit, and the reason if SONA refused it.

    For studies with `recruiter: {kind: sona, credit: server, …}`. The server requests the credit when a
    student submits, and repeats the request while SONA cannot be reached. It does not repeat a refused
    request: use --again.
    """
    with transaction_or_fail(data) as connection:
        entry = find_run(connection, run)
        if not credit_view(connection, entry).asked_by_server:
            fail(
                f"the server does not request credits for the run “{run}”",
                "To change that, set `recruiter: {kind: sona, credit: server, …}` in the study.",
            )
        asked = ask_for_refused(connection, entry, CommandLine()) if again else 0
        found = credit_view(connection, entry).credits
    table = Table("worker", "credit", "why not", "asked")
    for credit in found:
        at = f"{credit.tried_at:%Y-%m-%d %H:%M}" if credit.tried_at else ""
        table.add_row(credit.worker, credit.status, escape(credit.reason), at)
    console.print(table)
    counts = Counter(credit.status for credit in found)
    console.print(", ".join(f"{n} {what}" for what, n in sorted(counts.items())) or "Nobody has submitted.")
    if again:
        console.print(f"A running server requests {asked} credits again within half a minute.")
