"""The server's command line: `python -m server`, or `candor` once installed."""

import json
import logging
import re
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, NoReturn

import structlog
import typer
import uvicorn
from alembic.util import CommandError
from pydantic import ValidationError
from pydantic_settings import SettingsError
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from sqlalchemy import Connection, inspect, make_url
from sqlalchemy.exc import SQLAlchemyError

from server.access import tokens
from server.access.auth import Auth, load_auth
from server.app import PAGES, create_app
from server.bots import fitness
from server.bots.lineup import OpenRun, open_lineup
from server.bots.registry import Registry
from server.cli.fitness import check_fitness
from server.clock import utc_now
from server.config import Settings
from server.db import catalog
from server.db.engine import migrate, open_engine
from server.desk.export import export_run
from server.errors import BotsUnfit, CandorError
from server.session.protocol import json_schema
from server.study import load_study

DEMO = Path(__file__).parents[1] / "studies" / "demo.yaml"
_MOST_BYTES = 1_048_576
console = Console(highlight=False)
stderr = Console(stderr=True, highlight=False)
cli = typer.Typer(
    help="Candor: live human evaluation of dialogue systems.",
    no_args_is_help=False,
    pretty_exceptions_enable=False,
    add_completion=False,
)
token = typer.Typer(help="Tokens of researchers and of bot hosts that dial in.", no_args_is_help=True)
cli.add_typer(token, name="token")

Host = Annotated[str | None, typer.Option(help="Address to listen on.", show_default="127.0.0.1")]
Port = Annotated[int | None, typer.Option(help="Port to listen on.", show_default="8000")]
Data = Annotated[
    Path | None, typer.Option(help="Folder of the database and the secrets.", show_default="candor-data")
]
StudyFile = Annotated[Path, typer.Argument(help="A study file (YAML).")]
RunName = Annotated[str, typer.Option("--run", help="A name for the run; part of the worker's link.")]


CheckBots = Annotated[bool, typer.Option("--bots", help="Ask the study's bots, too, as `open` does.")]
Force = Annotated[
    bool, typer.Option("--despite-failing-bots", help="Open the run even if bots failed their check.")
]


@cli.callback(invoke_without_command=True)
def default(context: typer.Context, host: Host = None, port: Port = None, data: Data = None) -> None:
    """Candor: live human evaluation of dialogue systems. Without a command: serve."""
    if context.invoked_subcommand is None:
        serve(host, port, data)


@cli.command()
def serve(host: Host = None, port: Port = None, data: Data = None) -> None:
    """Serve every open run; an empty database gets the demo study first.

    Settings are read from the environment too: CANDOR_HOST, CANDOR_PORT, CANDOR_DATA, CANDOR_DATABASE_URL,
    CANDOR_PUBLIC_URL, CANDOR_EXEMPT_ADDRESSES, CANDOR_JOINS_PER_ADDRESS, CANDOR_MESSAGES_PER_SESSION,
    CANDOR_REFUSE_PRIVATE_BOTS, CANDOR_BOT_KEYS, CANDOR_TOKEN_DAYS.
    """
    settings = _settings(host=host, port=port, data=data)
    if not (PAGES / "worker.html").exists():
        _fail(f"the pages are not built ({PAGES} is empty)", "Run `make frontend`, or install a wheel.")
    listener = _listen(settings)
    registry = Registry(refuse_private=settings.refuse_private_bots)
    try:
        runs = _prepare(settings, registry)
        auth = load_auth(settings.data, settings.token_days)
    except CandorError as error:
        listener.close()
        _fail(error.message, error.hint)
    _configure_logging()
    app = create_app(settings, auth, runs, registry)
    _announce(settings, auth, runs)
    config = uvicorn.Config(
        app, ws="websockets-sansio", ws_max_size=_MOST_BYTES, log_level="warning", access_log=False
    )
    uvicorn.Server(config).run(sockets=[listener])


@cli.command()
def check(study: StudyFile, bots: CheckBots = False, data: Data = None) -> None:
    """Check a study file and open its bots, without storing anything."""
    settings = _settings(data=data)
    registry = Registry(refuse_private=settings.refuse_private_bots)
    try:
        content, text = load_study(study)
        with _reading(settings) as connection:
            lineup, registered = _line_up(connection, registry, _unopened(text, "check"))
        if bots:
            fitness.require_fit(check_fitness(lineup, registered, registry, console, stderr))
    except CandorError as error:
        _fail(error.message, error.hint)
    console.print(
        f"[green]{escape(str(study))} is fine:[/] {len(content.systems)} systems, "
        f"{content.conversations} conversations each, {len(content.criteria)} criteria."
    )


@cli.command("open")
def open_(study: StudyFile, run: RunName, data: Data = None, despite_failing_bots: Force = False) -> None:
    """Open a run of a study. A server that is running serves it after a restart.

    Bots of the study's own `bots` section are asked a few conversations first; bots that are registered with
    the server must have passed their check. A run whose bots failed is not opened.
    """
    settings = _settings(data=data)
    registry = Registry(refuse_private=settings.refuse_private_bots)
    try:
        _, text = load_study(study)
        catalog.require_slug(run)
        with _transaction(settings) as connection:
            stands = catalog.find_opened(connection, text, run)
            lineup, registered = _line_up(connection, registry, stands or _unopened(text, run))
        if stands is None:  # a study under way is not examined again
            _require_fit(lineup, registered, registry, despite_failing_bots)
        with _transaction(settings) as connection:
            entry = catalog.open_run(connection, text, run, utc_now())
    except CandorError as error:
        _fail(error.message, error.hint)
    console.print(f"Run [bold]{entry.slug}[/] is open: {settings.resolved_public_url}/w/{entry.slug}")
    console.print("A server that is running serves it once it is started again.")


@cli.command()
def close(run: RunName, data: Data = None) -> None:
    """Close a run: nobody new gets in, those who are under way can finish."""
    settings = _settings(data=data)
    try:
        with _transaction(settings) as connection:
            catalog.close_run(connection, run)
    except CandorError as error:
        _fail(error.message, error.hint)
    console.print(f"Run [bold]{run}[/] is closed; its data stays.")


@cli.command()
def export(
    run: RunName,
    out: Annotated[Path, typer.Option(help="The file to write.")] = Path("hits_data.json"),
    data: Data = None,
) -> None:
    """Write the completed assignments of a run to a file, in the published experiment's format."""
    settings = _settings(data=data)
    try:
        with _transaction(settings) as connection:
            content = export_run(connection, catalog.find_run(connection, run))
        out.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    except CandorError as error:
        _fail(error.message, error.hint)
    except OSError as error:
        _fail(f"{out}: cannot be written: {error.strerror}", "Choose another file with --out.")
    console.print(f"{len(content['data'])} assignments written to {out}.")


@token.command("new")
def new_token(
    name: Annotated[str, typer.Option(help="Whose it is; names it in the list.")],
    scope: Annotated[
        tokens.Scope,
        typer.Option("--for", help="researcher: everything a researcher may do; host: dial in, no more."),
    ] = "researcher",
    data: Data = None,
) -> None:
    """Make a token and print it, this once. A server that is running takes it at once."""
    with _tokens(data) as connection:
        made = tokens.new(connection, name, scope, utc_now())
    sys.stdout.write(made + "\n")
    stderr.print(f"The token of [bold]{name}[/] ({scope}). Keep it: it cannot be shown again.")


@token.command("list")
def list_tokens(data: Data = None) -> None:
    """List every token by its name; the tokens themselves are stored nowhere."""
    with _tokens(data) as connection:
        found = tokens.every(connection)
    table = Table("name", "for", "created", "revoked", box=None)
    for grant in found:
        table.add_row(grant.name, grant.scope, _minute(grant.created_at), _minute(grant.revoked_at))
    console.print(table if found else "There are no tokens yet: `token new` makes one.")


@token.command("revoke")
def revoke_token(name: Annotated[str, typer.Argument(help="As in the list.")], data: Data = None) -> None:
    """Revoke a token. A server that is running refuses it at once."""
    with _tokens(data) as connection:
        tokens.revoke(connection, name, utc_now())
    console.print(f"The token of [bold]{name}[/] is revoked.")


@cli.command()
def schema() -> None:
    """Print the JSON Schema of the wire protocol."""
    sys.stdout.write(json.dumps(json_schema(), indent=2) + "\n")


def _settings(**given: Any) -> Settings:
    try:
        return Settings(**{name: value for name, value in given.items() if value is not None})
    except ValidationError as error:
        problems = "; ".join(f"{'.'.join(str(k) for k in e['loc'])}: {e['msg']}" for e in error.errors())
        _fail(f"a setting is wrong: {problems}", "Correct the option, or the CANDOR_… variable of that name.")
    except SettingsError as error:
        _fail(f"a setting is wrong: {error}", "Correct the CANDOR_… variable of that name; a list is JSON.")


def _listen(settings: Settings) -> socket.socket:
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host, settings.port))
        listener.listen()  # from now on a second server finds the port taken
    except OSError as error:
        listener.close()
        where = f"{settings.host}:{settings.port}"
        _fail(f"cannot listen on {where}: {error.strerror}", "Choose another port with --port.")
    return listener


def _unopened(text: str, run: str) -> catalog.RunEntry:
    """Return what a run of the study would be, were it open."""
    return catalog.RunEntry(0, run, 0, "open", utc_now(), text)


def _line_up(
    connection: Connection | None, registry: Registry, entry: catalog.RunEntry
) -> tuple[OpenRun, list[fitness.Fitness]]:
    """Return a run with its bots, and how those did that are registered. No connection: no database."""
    if connection is None:
        return open_lineup(entry, registry), []
    registry.load(connection)
    lineup = open_lineup(entry, registry)  # a run whose bots cannot be opened is not stored
    return lineup, fitness.registered_fitness(connection, lineup.study)


def _require_fit(
    lineup: OpenRun, registered: list[fitness.Fitness], registry: Registry, despite: bool
) -> None:
    found = check_fitness(lineup, registered, registry, console, stderr)
    try:
        fitness.require_fit(found)
    except BotsUnfit as error:
        if not despite:
            raise
        stderr.print(f"[yellow]Opened all the same:[/] {escape(error.message)}", soft_wrap=True)


def _prepare(settings: Settings, registry: Registry) -> dict[int, OpenRun]:
    """Bring the database up to date and return its runs; an empty one gets the demo."""
    with _transaction(settings) as connection:
        entries = catalog.runs(connection) or [_open_demo(connection)]
        registry.load(connection)
    opened = {entry.id: lineup for entry in entries if (lineup := _opened(entry, registry)) is not None}
    if not opened and any(entry.status == "open" for entry in entries):
        raise CandorError("no run can be served", "See above what is wrong with each of them.")
    return opened


def _opened(entry: catalog.RunEntry, registry: Registry) -> OpenRun | None:
    """Return the run with its bots, or say why it cannot be served; the others go on without it."""
    try:
        return open_lineup(entry, registry)
    except CandorError as error:
        reason = f"{escape(error.message)}\n{escape(error.hint)}"
        stderr.print(f"[red]Run {escape(entry.slug)} is not served:[/] {reason}", soft_wrap=True)
        return None


@contextmanager
def _transaction(settings: Settings) -> Iterator[Connection]:
    """Bring the database up to date and open a transaction on it."""
    url = settings.resolved_database_url
    with _database_errors(url):
        migrate(url)
        engine = open_engine(url, begin="BEGIN IMMEDIATE")
        with engine.begin() as connection:
            yield connection
        engine.dispose()


@contextmanager
def _reading(settings: Settings) -> Iterator[Connection | None]:
    """Open the database as it is; give None where there is none, or one without registered bots."""
    url = settings.resolved_database_url
    parsed = make_url(url)
    if parsed.get_backend_name() == "sqlite" and not Path(parsed.database or "").exists():
        yield None
        return
    with _database_errors(url):
        engine = open_engine(url)
        with engine.connect() as connection:
            yield connection if inspect(connection).has_table("registration") else None
        engine.dispose()


@contextmanager
def _database_errors(url: str) -> Iterator[None]:
    try:
        yield
    except (SQLAlchemyError, CommandError, ImportError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise CandorError(
            f"the database {_shown(url)} cannot be opened: {reason}", "Check CANDOR_DATABASE_URL or --data."
        ) from error


@contextmanager
def _tokens(data: Path | None) -> Iterator[Connection]:
    """Open a transaction on the database; say what goes wrong, and end."""
    try:
        with _transaction(_settings(data=data)) as connection:
            yield connection
    except CandorError as error:
        _fail(error.message, error.hint)


def _minute(at: datetime | None) -> str:
    return "" if at is None else f"{at:%Y-%m-%d %H:%M} UTC"


def _shown(url: str) -> str:
    """Return a database's URL without the password in it."""
    return re.sub("//([^:@/]*):[^@/]*@", r"//\1:***@", url)


def _open_demo(connection: Connection) -> catalog.RunEntry:
    return catalog.open_run(connection, DEMO.read_text(encoding="utf-8"), "demo", utc_now())


def _announce(settings: Settings, auth: Auth, runs: dict[int, OpenRun]) -> None:
    url = settings.resolved_public_url
    console.print("\n[bold]Candor[/] is ready.\n")
    for run in runs.values():
        console.print(f"  Workers start here     {url}/w/{run.slug}", soft_wrap=True)
    console.print(f"  Researchers watch here {url}/desk#token={auth.researcher_token}\n", soft_wrap=True)
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


def _fail(what: str, remedy: str) -> NoReturn:
    stderr.print(f"[red]Error:[/] {escape(what)}\n{escape(remedy)}", soft_wrap=True)
    raise SystemExit(2)


def main() -> None:
    """Run the command line."""
    cli()
