"""Read and write registered bots and their checks as database rows."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import TypeAdapter, ValidationError
from sqlalchemy import Connection, bindparam, delete, insert, select, text, update

from bots import ConformanceReport, DialInEndpoint, Endpoint, Overruns, UrlEndpoint
from server.db.runs.revisions import raise_revision
from server.db.runs.runs import RunEntry, all_runs
from server.db.tables import BotCheck
from server.db.tables import Registration as Row
from server.errors import (
    BotExists,
    BotInUse,
    BotInvalid,
    BotNotFound,
    DialsIn,
    LastReplica,
    NotChecked,
    ReplicaExists,
)
from server.study import REGISTERED, Study, parse_study

_ENDPOINT: TypeAdapter[Endpoint] = TypeAdapter(Endpoint)
_AT_URLS: TypeAdapter[UrlEndpoint] = TypeAdapter(UrlEndpoint)
# Simulated workers in a hurry are left out: for them every reply is late.
_OVERRUNS = text(
    """
    SELECT count(*) AS replies, coalesce(sum(CASE WHEN said.overran THEN 1 ELSE 0 END), 0) AS overran
    FROM v1_turn AS said
    JOIN v1_conversation AS chat ON chat.conversation_id = said.conversation_id
    JOIN assignment ON assignment.id = chat.assignment_id
    WHERE said.author = 'bot' AND chat.run_id = :run AND chat.system IN :systems AND assignment.reply_pace = 1
    """
).bindparams(bindparam("systems", expanding=True))


@dataclass(frozen=True, slots=True)
class Registration:
    """A registered bot."""

    name: str
    endpoint: Endpoint
    enabled: bool
    created_at: datetime


@dataclass(frozen=True, slots=True)
class StoredCheck:
    """A conformance check that is over."""

    at: datetime
    report: ConformanceReport


def registrations(connection: Connection) -> list[Registration]:
    """Return every registered bot, by name."""
    return [_registration(row) for row in connection.execute(select(Row).order_by(Row.c.name))]


def find(connection: Connection, name: str) -> Registration:
    """Return the bot that is registered as `name`. Raises BotNotFound."""
    row = connection.execute(select(Row).where(Row.c.name == name)).one_or_none()
    if row is None:
        raise BotNotFound(f"no bot is registered as `{name}`")
    return _registration(row)


def add(connection: Connection, name: str, endpoint: Endpoint, at: datetime) -> Registration:
    """Register a bot.

    Raises:
        BotInvalid: `name` cannot be a registered bot's.
        BotExists: there is a bot of this name.
    """
    raise_revision(connection, "bots")
    if not REGISTERED.fullmatch(name):
        raise BotInvalid(
            f"`{name}` cannot be the name of a registered bot",
            "Use a-z, digits, - and _, at most 64 of them, the first one a letter or a digit; `qc` is taken.",
        )
    if connection.execute(select(Row.c.name).where(Row.c.name == name)).one_or_none() is not None:
        raise BotExists(f"a bot is registered as `{name}` already")
    connection.execute(insert(Row).values(name=name, endpoint=_text(endpoint), enabled=True, created_at=at))
    return find(connection, name)


def find_or_add_dial_in(connection: Connection, name: str, at: datetime) -> tuple[Registration, bool]:
    """Return the bot that dials in as `name`, and whether it was registered just now: there was none.

    Raises:
        BotInvalid: `name` cannot be a registered bot's.
        BotExists: it is a bot of another kind.
    """
    try:
        found = find(connection, name)
    except BotNotFound:
        return add(connection, name, DialInEndpoint(kind="dial-in"), at), True
    if not isinstance(found.endpoint, DialInEndpoint):
        raise BotExists(
            f"`{name}` is registered as a bot of kind {found.endpoint.kind}, at an address",
            "Start the host with another --name, or delete that bot first.",
        )
    return found, False


def enable(connection: Connection, name: str, enabled: bool) -> Registration:
    """Enable or disable a bot. Raises BotNotFound."""
    raise_revision(connection, "bots")
    find(connection, name)
    connection.execute(update(Row).where(Row.c.name == name).values(enabled=enabled))
    return find(connection, name)


def remove(connection: Connection, name: str) -> None:
    """Forget a bot. Its checks stay, but count for no later bot of the same name.

    Raises:
        BotNotFound: there is none.
        BotInUse: an open run has it.
    """
    raise_revision(connection, "bots")
    find(connection, name)
    using = list(used_by(connection, name))
    if using:
        raise BotInUse(f"`{name}` answers in the open run{'s' * (len(using) > 1)} {', '.join(using)}")
    connection.execute(delete(Row).where(Row.c.name == name))


def add_replica(connection: Connection, name: str, url: str) -> Registration:
    """Have another server answer for a bot. Its checks are forgotten: they did not ask that server.

    Raises:
        BotNotFound: there is no such bot.
        DialsIn: its replicas are not at addresses.
        BotInvalid: `url` is none that a bot can have.
        ReplicaExists: it is there already.
    """
    found, urls, url = _replicas(connection, name, url)
    if url in urls:
        raise ReplicaExists(f"`{name}` has a replica at {url} already")
    connection.execute(delete(BotCheck).where(BotCheck.c.name == found.name))
    return _with_urls(connection, found, [*urls, url])


def remove_replica(connection: Connection, name: str, url: str) -> Registration:
    """Have a server answer for a bot no more.

    Raises:
        BotNotFound: there is no such bot, or it has no such replica.
        DialsIn: its replicas are not at addresses.
        BotInvalid: `url` is none that a bot can have.
        LastReplica: there would be none left.
    """
    found, urls, url = _replicas(connection, name, url)
    if url not in urls:
        raise BotNotFound(f"`{name}` has no replica at {url}")
    if len(urls) == 1:
        raise LastReplica(f"`{name}` has no replica but this one")
    return _with_urls(connection, found, [other for other in urls if other != url])


def used_by(connection: Connection, name: str) -> dict[str, str]:
    """Return the open runs whose study has the bot, oldest first, each with the name of its study."""
    return {run.slug: study.name for run, study in _runs_with(connection, name) if run.status != "closed"}


def names(connection: Connection) -> list[str]:
    """Return the names of the registered bots, sorted."""
    return [row.name for row in registrations(connection)]


def newest_study(connection: Connection, name: str) -> Study | None:
    """Return the study of the newest run that has the bot."""
    return next((study for _, study in reversed(list(_runs_with(connection, name)))), None)


def overruns(connection: Connection, name: str) -> Overruns:
    """Return how often the bot took longer than the natural reply time, in all runs that have it."""
    replies = overran = 0
    for run, study in _runs_with(connection, name):
        systems = [system for system, bot in study.bots_of_systems.items() if bot == name]
        row = connection.execute(_OVERRUNS, {"run": run.id, "systems": systems}).one()
        replies, overran = replies + int(row.replies), overran + int(row.overran)
    return Overruns(replies=replies, overran=overran)


def store_check(
    connection: Connection, checked: Registration, report: ConformanceReport, at: datetime
) -> None:
    """Keep the report of a check of the bot as it was `checked`.

    Raises:
        BotNotFound: the bot was deleted meanwhile.
        NotChecked: a replica was added meanwhile, which the check did not ask.
    """
    now = find(connection, checked.name)
    if now.created_at != checked.created_at:
        raise BotNotFound(f"`{checked.name}` is another bot by now than the one that was checked")
    if not _urls(now.endpoint) <= _urls(checked.endpoint):
        raise NotChecked(f"`{checked.name}` has a replica by now that was not checked")
    values = {"name": checked.name, "at": at, "verdict": report.verdict}
    connection.execute(insert(BotCheck).values(report=report.model_dump_json(), **values))


def latest_check(connection: Connection, checked: Registration) -> StoredCheck | None:
    """Return the latest check of a bot; None where there is none."""
    query = select(BotCheck.c.at, BotCheck.c.report).where(
        BotCheck.c.name == checked.name, BotCheck.c.at >= checked.created_at
    )
    row = connection.execute(query.order_by(BotCheck.c.id.desc()).limit(1)).one_or_none()
    return None if row is None else StoredCheck(row.at, ConformanceReport.model_validate_json(row.report))


def _registration(row: Any) -> Registration:
    return Registration(row.name, _ENDPOINT.validate_json(row.endpoint), row.enabled, row.created_at)


def _text(endpoint: Endpoint) -> str:
    """Return the one way to write `endpoint` down."""
    return json.dumps(endpoint.model_dump(mode="json", exclude_none=True), sort_keys=True)


def _urls(endpoint: Endpoint) -> frozenset[str]:
    """Return where a bot's replicas are; of a bot that dials in nobody knows before they are there."""
    return frozenset() if isinstance(endpoint, DialInEndpoint) else frozenset(endpoint.urls)


def _replicas(connection: Connection, name: str, url: str) -> tuple[Registration, list[str], str]:
    """Return a bot, which is about to change, its urls, and `url` as it is written among them."""
    raise_revision(connection, "bots")
    found = find(connection, name)
    if isinstance(found.endpoint, DialInEndpoint):
        raise DialsIn(f"`{name}` is answered by bot hosts that dial in")
    return found, found.endpoint.urls, _at(found.endpoint, [url]).urls[0]


def _with_urls(connection: Connection, found: Registration, urls: list[str]) -> Registration:
    changed = _text(_at(found.endpoint, urls))
    connection.execute(update(Row).where(Row.c.name == found.name).values(endpoint=changed))
    return find(connection, found.name)


def _at(endpoint: Endpoint, urls: list[str]) -> UrlEndpoint:
    """Return the endpoint with other replicas."""
    try:
        return _AT_URLS.validate_python(endpoint.model_dump() | {"urls": urls})
    except ValidationError as error:
        raise BotInvalid("; ".join(problem["msg"] for problem in error.errors())) from error


def _runs_with(connection: Connection, name: str) -> Iterator[tuple[RunEntry, Study]]:
    """Yield the runs whose study has the bot, oldest first."""
    for run in all_runs(connection):
        study = parse_study(run.yaml)
        if name in study.registered_bots:
            yield run, study
