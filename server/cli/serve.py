"""`candor serve`: the server's process."""

import logging
import socket
import sys

import structlog
import typer
import uvicorn
from rich.markup import escape
from sqlalchemy import Connection

from bots import console, fail, stderr
from server.access.auth import Auth, load_auth, token_file
from server.app import PAGES, create_app
from server.bots.lineup import OpenRun, open_lineup
from server.bots.opened_bots import OpenedBots
from server.cli.database import require_servable, served, transaction
from server.cli.redis import check_redis
from server.cli.settings import Data, Host, Port, settings_from, variables_help
from server.clock import utc_now
from server.config import Settings
from server.db.runs import RunEntry, all_runs, open_run
from server.errors import CandorError
from server.study import DEMO

# Seconds after which a thread that computes lets another one go on. The writer needs the interpreter for
# moments, a few times a commit: at Python's own 5 ms a commit beside a busy loop took 16 ms, and takes 4 so.
_SWITCH_SECONDS = 0.000_5
_MOST_BYTES = 65_536  # of a frame: twice what a message may have, so that one too long still gets an answer
cli = typer.Typer(pretty_exceptions_enable=False, add_completion=False, rich_markup_mode="rich")


@cli.command(epilog=variables_help())
def serve(host: Host = None, port: Port = None, data: Data = None) -> None:
    """Serve every open run; an empty database gets the demo study first."""
    settings = settings_from(host=host, port=port, data=data)
    if not (PAGES / "worker.html").exists():
        fail(
            f"the pages are not built ({PAGES} is empty)",
            "Run `make run`, which builds them, or install a wheel.",
        )
    listener = listen(settings)
    try:
        with served(settings):
            _serve(settings, listener)
    except CandorError as error:
        listener.close()
        fail(error.message, error.hint)


def _serve(settings: Settings, listener: socket.socket) -> None:
    """Serve until somebody stops it. Raises CandorError: it cannot."""
    if settings.redis_url is not None:
        check_redis(settings.redis_url)
    opened_bots = OpenedBots(refuse_private=settings.refuse_private_bots)
    runs = prepare(settings, opened_bots)
    auth = load_auth(settings.data, settings.token_days)
    _configure_logging()
    sys.setswitchinterval(_SWITCH_SECONDS)
    app = create_app(settings, auth, runs, opened_bots)
    _announce(settings, auth, runs)
    config = uvicorn.Config(
        app, ws="websockets-sansio", ws_max_size=_MOST_BYTES, log_level="warning", access_log=False
    )
    uvicorn.Server(config).run(sockets=[listener])


def listen(settings: Settings) -> socket.socket:
    """Return the socket on which to serve; from now on a second server finds the port taken."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host, settings.port))
        listener.listen()
    except OSError as error:
        listener.close()
        where = f"{settings.host}:{settings.port}"
        fail(f"cannot listen on {where}: {error.strerror}", "Choose another port with --port.")
    return listener


def prepare(settings: Settings, opened_bots: OpenedBots) -> dict[int, OpenRun]:
    """Bring the database up to date and return its runs by id; an empty one gets the demo.

    Raises:
        CandorError: the database cannot be opened, or no run of it can be served.
    """
    with transaction(settings) as connection:
        require_servable(connection)
        entries = all_runs(connection) or [_open_demo(connection)]
        opened_bots.load(connection)
    opened = {entry.id: lineup for entry in entries if (lineup := _opened(entry, opened_bots)) is not None}
    if not opened and any(entry.status == "open" for entry in entries):
        raise CandorError("no run can be served", "See above what is wrong with each of them.")
    return opened


def _opened(entry: RunEntry, opened_bots: OpenedBots) -> OpenRun | None:
    """Return the run with its bots, or say why it cannot be served; the others go on without it."""
    try:
        return open_lineup(entry, opened_bots)
    except CandorError as error:
        reason = f"{escape(error.message)}\n{escape(error.hint)}"
        stderr.print(f"[red]Run {escape(entry.slug)} is not served:[/] {reason}", soft_wrap=True)
        return None


def _open_demo(connection: Connection) -> RunEntry:
    return open_run(connection, DEMO.read_text(encoding="utf-8"), "demo", utc_now())


def _announce(settings: Settings, auth: Auth, runs: dict[int, OpenRun]) -> None:
    url = settings.resolved_public_url
    console.print("\n[bold]Candor[/] is ready.\n")
    for run in runs.values():
        console.print(f"  Workers start here     {url}/w/{run.slug}", soft_wrap=True)
    # The token opens everything: into a terminal it may go, into the log of a service it may not.
    token = f"#token={auth.researcher_token}" if console.is_terminal else ""
    console.print(f"  Researchers watch here {url}/desk{token}", soft_wrap=True)
    if not console.is_terminal:
        console.print(f"  The desk asks for the token in {token_file(settings.data)}", soft_wrap=True)
    console.print()
    console.print("  Stop with Ctrl+C; everything acknowledged is stored.\n")


def _configure_logging() -> None:
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
