"""Endpoints that show the audit log, in pages and as CSV."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Response
from pydantic import BaseModel, Field

from server.access.actor import Allowed
from server.access.parts import Database
from server.clock import ShownTime
from server.db.audit import AuditFilter, AuditRecord, entries
from server.db.tables.table import RowNumber
from server.export.spreadsheet import CSV, csv_table

_A_PAGE = 100
_COLUMNS = ("at", "kind", "actor", "action", "subject", "detail")
Text = Annotated[str, Field(max_length=200)]


class AuditRow(BaseModel):
    """An entry of the audit log. `kind`: of the actor: person, token, installation, command or server."""

    id: int
    at: ShownTime
    kind: str
    actor: str
    action: str
    subject: str
    detail: str


class AuditPage(BaseModel):
    """Entries of the log, newest first. `more`: there are older ones; get them with `before`, the last id."""

    entries: list[AuditRow]
    more: bool


class Wanted(BaseModel):
    """A filter of entries. `action`: a prefix, such as `run.`; the other fields must match exactly."""

    actor: Text | None = None
    action: Text | None = None
    subject: Text | None = None
    since: datetime | None = None
    until: datetime | None = None
    before: RowNumber | None = None

    def filter(self) -> AuditFilter:
        """Return the filter for the query of the database."""
        return AuditFilter(**dict(self))


router = APIRouter(prefix="/api/desk", tags=["audit"], dependencies=[Depends(Allowed("read_audit_log"))])


@router.get("/audit")
async def show_audit(wanted: Annotated[Wanted, Query()], store: Database) -> AuditPage:
    """List a hundred entries of the log, newest first."""
    found = await store.read(lambda c: entries(c, wanted.filter(), _A_PAGE + 1))
    rows = [AuditRow(**_values(entry)) for entry in found[:_A_PAGE]]
    return AuditPage(entries=rows, more=len(found) > _A_PAGE)


@router.get("/audit.csv", **CSV)
async def export_audit(wanted: Annotated[Wanted, Query()], store: Database) -> Response:
    """Return the whole log as CSV, newest first."""
    found = await store.read(lambda c: entries(c, wanted.filter()))
    headers = {"Content-Disposition": 'attachment; filename="audit.csv"'}
    table = csv_table(_COLUMNS, map(_cells, found))
    return Response(table, media_type="text/csv; charset=utf-8", headers=headers)


def _cells(entry: AuditRecord) -> list[str]:
    at = entry.at.isoformat(timespec="seconds")
    return [at, entry.kind, entry.actor, entry.action, entry.subject, entry.detail]


def _values(entry: AuditRecord) -> dict[str, object]:
    return {name: getattr(entry, name) for name in ("id", *_COLUMNS)}
