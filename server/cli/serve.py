"""`candor serve`: serve all open runs, with one process or several."""

import asyncio
import socket
from collections.abc import Callable
from functools import partial

import typer
from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import AuthenticationError, RedisError, ResponseError
from redis.exceptions import ConnectionError as Unreachable
from redis.exceptions import TimeoutError as Silent
from redis.retry import Retry
from rich.markup import escape
from sqlalchemy import Connection

from candor.common.network import listener
from candor.common.terminal import console, fail, stderr
from server.access.auth import load_auth
from server.access.sign_ins import has_people, new_link
from server.app import PAGES, create_app
from server.bots.lineup import OpenRun, open_lineup
from server.bots.opened_bots import OpenedBots
from server.cli.installation import (
    Data,
    Host,
    Port,
    Processes,
    check_secrets,
    id_cipher,
    moderation_from,
    own_command,
    reading,
    require_secrets,
    require_servable,
    require_undamaged,
    served,
    settings_from,
    transaction,
    variables_help,
)
from server.clock import utc_now
from server.config import Settings, without_password
from server.db.audit import CommandLine, record
from server.db.runs.runs import RunEntry, all_runs, open_run, open_slugs
from server.db.secrets import encrypt_again
from server.desk.people.people import password_link
from server.errors import CandorError
from server.process.logs import configure_logging
from server.process.readiness import Lifecycle, newest_schema, schema
from server.process.server import Server, raise_file_limit
from server.process.supervisor import NotStarted, Supervisor
from server.study import DEMO

_SECONDS = 5
_HOW_TO_WRITE = (
    "Write CANDOR_REDIS_URL as redis://:PASSWORD@HOST:6379/0 (rediss:// over TLS), and characters such as "
    "@ : / in the password as %40 %3A %2F. A single process needs no Redis: remove CANDOR_REDIS_URL."
)


def check_redis(url: str) -> None:
    """Check that Redis can be used; warn if it is unreachable or may evict keys.

    The server starts even if Redis is unreachable: data in Redis may be lost, and the server reconnects by
    itself.

    Raises:
        CandorError: the URL is malformed, or Redis refuses the connection.
    """
    shown = without_password(url)
    try:
        retry = Retry(NoBackoff(), 0)
        client = Redis.from_url(
            url, socket_timeout=_SECONDS, socket_connect_timeout=_SECONDS, decode_responses=True, retry=retry
        )
    except ValueError as error:
        raise CandorError(f"{shown} is not the URL of a Redis", _HOW_TO_WRITE) from error
    try:
        client.ping()
        policy = _eviction(client)
    except AuthenticationError as error:
        reason = f"the Redis {shown} refuses this server's login: {error}"
        raise CandorError(reason, "Check the user and the password in CANDOR_REDIS_URL.") from error
    except (Unreachable, Silent, OSError) as error:
        _warn(
            f"the Redis {shown} cannot be reached ({type(error).__name__}).",
            "The server starts without it and connects as soon as it can. Until then, processes notice each "
            "other's changes later, and each counts rate limits separately. If Redis should be running, "
            "check CANDOR_REDIS_URL.",
        )
        return
    except RedisError as error:
        raise CandorError(f"The Redis {shown} cannot be used: {error}", _HOW_TO_WRITE) from error
    finally:
        client.close()
    if policy not in {None, "noeviction"}:
        _warn(
            f"the Redis {shown} may evict data: its maxmemory-policy is {policy}.",
            "Calls to bots could get lost, and would be repeated only after their time-out. Set "
            "`maxmemory-policy noeviction` in redis.conf, or give Candor a Redis of its own.",
        )


def _eviction(client: Redis) -> str | None:
    """Return Redis's eviction policy; None if its memory has no limit, or it does not tell."""
    try:
        found = client.config_get("maxmemory*")
    except ResponseError:  # some providers forbid CONFIG GET
        return None
    return None if found.get("maxmemory", "0") == "0" else str(found.get("maxmemory-policy"))


def _warn(what: str, then: str) -> None:
    stderr.print(f"[yellow]Warning:[/] {escape(what)} {escape(then)}", soft_wrap=True)


cli = typer.Typer(pretty_exceptions_enable=False, add_completion=False, rich_markup_mode="rich")


@cli.command(epilog=variables_help())
def serve(host: Host = None, port: Port = None, data: Data = None, processes: Processes = None) -> None:
    """Serve all open runs. An empty database gets a run of the demo study first."""
    settings = settings_from(host=host, port=port, data=data, processes=processes)
    # Set both explicitly, so that the address of an earlier server does not count.
    settings = settings.model_copy(update={"host": settings.host, "port": settings.port})
    _require_shareable(settings)
    if not (PAGES / "worker.html").exists():
        fail(
            f"the pages are not built ({PAGES} is empty)",
            "Run `make run`, which builds them, or install a wheel.",
        )
    listening = listen(settings)
    try:
        with served(settings):
            _serve(settings, listening)
    except CandorError as error:
        listening.close()
        fail(error.message, error.hint)


def opened_by(settings: Settings) -> OpenedBots:
    """Return the bots of a serving process, not started yet."""
    return OpenedBots(
        refuse_private=settings.refuse_private_bots,
        bot_hosts=settings.bot_hosts,
        redis_url=settings.redis_url,
        moderation=moderation_from(settings),
    )


def _serve(settings: Settings, listening: socket.socket) -> None:
    """Serve until the process is stopped. Raises CandorError if it cannot serve."""
    if settings.redis_url is not None:
        check_redis(settings.redis_url)
    opened_bots = opened_by(settings)
    runs = prepare(settings, opened_bots)
    first_link = _first_link(settings)
    entrances = _entrances(settings, runs)
    auth = load_auth(settings.data, settings.token_days, settings.worker_id_key)
    raise_file_limit()
    configure_logging(auth.secrets)
    if settings.processes > 1:
        announce = partial(_announce, settings, entrances, first_link)
        _serve_supervised(settings, opened_bots, listening, announce)
        return
    lifecycle = Lifecycle(settings.drain_seconds)
    app = create_app(settings, auth, runs, opened_bots, lifecycle=lifecycle)
    _announce(settings, entrances, first_link)
    Server(app, lifecycle, settings).run(sockets=[listening])


def _serve_supervised(
    settings: Settings, opened_bots: OpenedBots, listening: socket.socket, announce: Callable[[], None]
) -> None:
    """Serve with several processes. Each opens the runs itself; here they were opened only as a check."""

    async def supervise() -> None:
        await opened_bots.close()
        supervisor = Supervisor(
            listening, settings.model_dump_json(), settings.processes, settings.drain_seconds
        )
        await supervisor.start()
        announce()
        await supervisor.run()

    try:
        asyncio.run(supervise())
    except NotStarted:
        fail("a process of the server did not start", "See its error above.")


def _require_shareable(settings: Settings) -> None:
    """End the command if several processes are configured without PostgreSQL or Redis."""
    if settings.processes == 1:
        return
    hint = (
        "Serve with one process (--processes 1), or set CANDOR_DATABASE_URL to a PostgreSQL database"
        " (postgresql://USER:PASSWORD@HOST/NAME) and CANDOR_REDIS_URL to a Redis (redis://HOST)."
    )
    if settings.resolved_database_url.startswith("sqlite"):
        fail(f"{settings.processes} processes cannot share the SQLite database of {settings.data}", hint)
    if settings.redis_url is None:
        fail(f"{settings.processes} processes need a Redis to exchange messages", hint)


def listen(settings: Settings) -> socket.socket:
    """Bind and return the listening socket, which reserves the port. End the command if the port is taken."""
    try:
        return listener(settings.host, settings.port)
    except OSError as error:
        fail(f"cannot listen on {settings.address}: {error.strerror}", "Choose another port with --port.")


def prepare(settings: Settings, opened_bots: OpenedBots) -> dict[int, OpenRun]:
    """Check and migrate the database, and return its runs by id. An empty database gets the demo run.

    Raises:
        CandorError: the database is damaged or cannot be opened, or none of its runs can be served.
    """
    require_undamaged(settings, whole=False)
    with transaction(settings, begins=True) as connection:
        require_servable(connection)
        require_secrets(settings, connection)
        encrypt_again(connection, id_cipher(settings, connection))
        entries = all_runs(connection) or [_open_demo(connection)]
        opened_bots.load(connection)
    return _opened_runs(entries, opened_bots)


def open_runs(settings: Settings, opened_bots: OpenedBots) -> dict[int, OpenRun]:
    """Return the runs of a prepared database, by id.

    Raises:
        CandorError: as `prepare`.
    """
    with reading(settings) as connection:
        if connection is None:
            raise CandorError("The database is empty", "Start the server with “candor serve”.")
        if (found := schema(connection)) != (needed := newest_schema()):
            reason = f"the database's schema is {found}, and this version needs {needed}"
            raise CandorError(reason, "Stop the server and start it again, which migrates the database.")
        check_secrets(settings, connection)
        entries = all_runs(connection)
        opened_bots.load(connection)
    return _opened_runs(entries, opened_bots)


def _opened_runs(entries: list[RunEntry], opened_bots: OpenedBots) -> dict[int, OpenRun]:
    opened = {entry.id: found for entry in entries if (found := _opened(entry, opened_bots)) is not None}
    if not opened and any(entry.status == "open" for entry in entries):
        raise CandorError("No run can be served", "See the error of each run above.")
    return opened


def _opened(entry: RunEntry, opened_bots: OpenedBots) -> OpenRun | None:
    """Return the run with its bots; if it cannot be served, print the reason and return None."""
    try:
        return open_lineup(entry, opened_bots)
    except CandorError as error:
        reason = f"{escape(error.message)}\n{escape(error.hint)}"
        stderr.print(f"[red]Run {escape(entry.slug)} is not served:[/] {reason}", soft_wrap=True)
        return None


def _open_demo(connection: Connection) -> RunEntry:
    entry = open_run(connection, DEMO.read_text(encoding="utf-8"), "demo", utc_now())
    record(connection, CommandLine(), "run.open", entry.slug, "the first start")
    return entry


def _first_link(settings: Settings) -> str | None:
    """Return the secret of the link that makes the first owner; None if there are accounts."""
    with transaction(settings) as connection:
        return None if has_people(connection) else new_link(connection, None, utc_now())


def _entrances(settings: Settings, runs: dict[int, OpenRun]) -> list[str]:
    """Return the names of the runs that workers may join, in the order of `runs`."""
    with transaction(settings) as connection:
        found = open_slugs(connection, [run.id for run in runs.values() if not run.is_rehearsal])
    return [run.slug for run in runs.values() if run.id in found]


def _announce(settings: Settings, entrances: list[str], first_link: str | None) -> None:
    settings.remember_served()
    url = settings.resolved_public_url
    console.print("\n[bold]Candor[/] is ready.\n")
    for run in entrances:
        console.print(f"  Workers start here     {url}/w/{run}", soft_wrap=True)
    # The first link gives full access, so it is printed to a terminal only, never to the log of a service.
    if first_link is not None and console.is_terminal:
        console.print(f"  Researchers start here {password_link(url, first_link)}", soft_wrap=True)
        console.print("                         (works once: it makes you the owner)", soft_wrap=True)
    else:
        console.print(f"  Researchers watch here {url}/desk", soft_wrap=True)
    if first_link is not None and not console.is_terminal:
        console.print(
            f"  Nobody can sign in yet: {own_command()} people add NAME --role owner", soft_wrap=True
        )
    console.print(f"  Everything else        {own_command()} --help", soft_wrap=True)
    console.print()
    console.print("  Stop with Ctrl+C. All acknowledged messages are stored.\n")
