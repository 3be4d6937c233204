"""Read and write registered bots and their checks as database rows."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import TypeAdapter, ValidationError
from sqlalchemy import Connection, bindparam, delete, insert, select, text, update

from bots.serving import ConformanceReport, DialInEndpoint, Endpoint, Overruns, UrlEndpoint
from server.db.runs.runs import RunEntry, all_runs, raise_revision
from server.db.tables import BotCheckTable, RegistrationTable
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
# Simulated workers with a faster pace are excluded: for them every reply is late.
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
    """A finished conformance check."""

    at: datetime
    report: ConformanceReport


def registrations(connection: Connection) -> list[Registration]:
    """Return all registered bots, by name."""
    return [
        _registration(row)
        for row in connection.execute(select(RegistrationTable).order_by(RegistrationTable.c.name))
    ]


def find(connection: Connection, name: str) -> Registration:
    """Return the bot registered as `name`. Raises BotNotFound."""
    row = connection.execute(select(RegistrationTable).where(RegistrationTable.c.name == name)).one_or_none()
    if row is None:
        raise BotNotFound(f"No bot is registered as “{name}”")
    return _registration(row)


def add(connection: Connection, name: str, endpoint: Endpoint, at: datetime) -> Registration:
    """Register a bot.

    Raises:
        BotInvalid: `name` is not a valid name.
        BotExists: there is a bot of this name.
    """
    raise_revision(connection, "bots")
    if not REGISTERED.fullmatch(name):
        raise BotInvalid(
            f"“{name}” cannot be the name of a registered bot",
            "Use up to 64 of a-z, digits, - and _, starting with a letter or digit. “qc” is reserved.",
        )
    if (
        connection.execute(
            select(RegistrationTable.c.name).where(RegistrationTable.c.name == name)
        ).one_or_none()
        is not None
    ):
        raise BotExists(f"A bot named “{name}” is registered already")
    connection.execute(
        insert(RegistrationTable).values(name=name, endpoint=_text(endpoint), enabled=True, created_at=at)
    )
    return find(connection, name)


def find_or_add_dial_in(connection: Connection, name: str, at: datetime) -> tuple[Registration, bool]:
    """Return the dial-in bot `name`, registering it if it is new, and whether it is new.

    Raises:
        BotInvalid: `name` is not a valid name.
        BotExists: there is a bot of another kind with this name.
    """
    try:
        found = find(connection, name)
    except BotNotFound:
        return add(connection, name, DialInEndpoint(kind="dial-in"), at), True
    if not isinstance(found.endpoint, DialInEndpoint):
        raise BotExists(
            f"“{name}” is registered as a bot of kind {found.endpoint.kind}, at an address",
            "Start the host with another --name, or delete that bot first.",
        )
    return found, False


def enable(connection: Connection, name: str, enabled: bool) -> Registration:
    """Enable or disable a bot. Raises BotNotFound."""
    raise_revision(connection, "bots")
    find(connection, name)
    connection.execute(
        update(RegistrationTable).where(RegistrationTable.c.name == name).values(enabled=enabled)
    )
    return find(connection, name)


def remove(connection: Connection, name: str) -> None:
    """Delete a bot. Its checks stay, but do not count for a later bot with the same name.

    Raises:
        BotNotFound: there is no such bot.
        BotInUse: an open run uses it.
    """
    raise_revision(connection, "bots")
    find(connection, name)
    using = list(used_by(connection, name))
    if using:
        raise BotInUse(f"“{name}” answers in the open run{'s' * (len(using) > 1)} {', '.join(using)}")
    connection.execute(delete(RegistrationTable).where(RegistrationTable.c.name == name))


def add_replica(connection: Connection, name: str, url: str) -> Registration:
    """Add a replica to a bot. Delete its checks, which did not cover that replica.

    Raises:
        BotNotFound: there is no such bot.
        DialsIn: it is a dial-in bot, whose replicas have no addresses.
        BotInvalid: `url` is not valid for a bot.
        ReplicaExists: the bot has this replica already.
    """
    found, urls, url = _replicas(connection, name, url)
    if url in urls:
        raise ReplicaExists(f"“{name}” has a replica at {url} already")
    connection.execute(delete(BotCheckTable).where(BotCheckTable.c.name == found.name))
    return _with_urls(connection, found, [*urls, url])


def remove_replica(connection: Connection, name: str, url: str) -> Registration:
    """Remove a replica of a bot.

    Raises:
        BotNotFound: there is no such bot, or it has no such replica.
        DialsIn: it is a dial-in bot, whose replicas have no addresses.
        BotInvalid: `url` is not valid for a bot.
        LastReplica: it is the last one.
    """
    found, urls, url = _replicas(connection, name, url)
    if url not in urls:
        raise BotNotFound(f"“{name}” has no replica at {url}")
    if len(urls) == 1:
        raise LastReplica(f"“{name}” has no other replica")
    return _with_urls(connection, found, [other for other in urls if other != url])


def used_by(connection: Connection, name: str) -> dict[str, str]:
    """Return the open runs whose study uses the bot, oldest first, with the names of their studies."""
    return {run.slug: study.name for run, study in _runs_with(connection, name) if run.status != "closed"}


def names(connection: Connection) -> list[str]:
    """Return the names of the registered bots, sorted."""
    return [row.name for row in registrations(connection)]


def newest_study(connection: Connection, name: str) -> Study | None:
    """Return the study of the newest run that uses the bot; None if there is none."""
    return next((study for _, study in reversed(list(_runs_with(connection, name)))), None)


def overruns(connection: Connection, name: str) -> Overruns:
    """Return how often the bot exceeded the natural reply time, in all runs that use it."""
    replies = overran = 0
    for run, study in _runs_with(connection, name):
        systems = [system for system, bot in study.bots_of_systems.items() if bot == name]
        row = connection.execute(_OVERRUNS, {"run": run.id, "systems": systems}).one()
        replies, overran = replies + int(row.replies), overran + int(row.overran)
    return Overruns(replies=replies, overran=overran)


def store_check(
    connection: Connection, checked: Registration, report: ConformanceReport, at: datetime
) -> None:
    """Store the report of a check of the bot `checked`.

    Raises:
        BotNotFound: the bot was deleted meanwhile.
        NotChecked: a replica was added meanwhile, which the check did not cover.
    """
    now = find(connection, checked.name)
    if now.created_at != checked.created_at:
        raise BotNotFound(f"“{checked.name}” was replaced by another bot during the check")
    if not _urls(now.endpoint) <= _urls(checked.endpoint):
        raise NotChecked(f"“{checked.name}” got another replica during the check")
    values = {"name": checked.name, "at": at, "verdict": report.verdict}
    connection.execute(insert(BotCheckTable).values(report=report.model_dump_json(), **values))


def latest_check(connection: Connection, checked: Registration) -> StoredCheck | None:
    """Return the latest check of a bot; None if there is none."""
    query = select(BotCheckTable.c.at, BotCheckTable.c.report).where(
        BotCheckTable.c.name == checked.name, BotCheckTable.c.at >= checked.created_at
    )
    row = connection.execute(query.order_by(BotCheckTable.c.id.desc()).limit(1)).one_or_none()
    return None if row is None else StoredCheck(row.at, ConformanceReport.model_validate_json(row.report))


def _registration(row: Any) -> Registration:
    return Registration(row.name, _ENDPOINT.validate_json(row.endpoint), row.enabled, row.created_at)


def _text(endpoint: Endpoint) -> str:
    """Return the canonical JSON of `endpoint`."""
    return json.dumps(endpoint.model_dump(mode="json", exclude_none=True), sort_keys=True)


def _urls(endpoint: Endpoint) -> frozenset[str]:
    """Return the URLs of a bot's replicas; none for a dial-in bot."""
    return frozenset() if isinstance(endpoint, DialInEndpoint) else frozenset(endpoint.urls)


def _replicas(connection: Connection, name: str, url: str) -> tuple[Registration, list[str], str]:
    """Return a bot that is about to change, its URLs, and `url` in normal form."""
    raise_revision(connection, "bots")
    found = find(connection, name)
    if isinstance(found.endpoint, DialInEndpoint):
        raise DialsIn(f"“{name}” is a dial-in bot: its bot hosts connect by themselves")
    return found, found.endpoint.urls, _at(found.endpoint, [url]).urls[0]


def _with_urls(connection: Connection, found: Registration, urls: list[str]) -> Registration:
    changed = _text(_at(found.endpoint, urls))
    connection.execute(
        update(RegistrationTable).where(RegistrationTable.c.name == found.name).values(endpoint=changed)
    )
    return find(connection, found.name)


def _at(endpoint: Endpoint, urls: list[str]) -> UrlEndpoint:
    """Return the endpoint with other replicas. Raises BotInvalid."""
    try:
        return _AT_URLS.validate_python(endpoint.model_dump() | {"urls": urls})
    except ValidationError as error:
        raise BotInvalid(
            "; ".join(problem["msg"].removeprefix("Value error, ") for problem in error.errors())
        ) from error


def _runs_with(connection: Connection, name: str) -> Iterator[tuple[RunEntry, Study]]:
    """Yield the runs whose study uses the bot, oldest first."""
    for run in all_runs(connection):
        study = parse_study(run.yaml)
        if name in study.registered_bots:
            yield run, study
