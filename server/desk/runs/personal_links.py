"""Personal, signed links for a list of workers. The signature prevents use with another id."""

import asyncio
import csv
import re
from collections.abc import Iterator, Sequence
from typing import Annotated

from fastapi import APIRouter, Depends, Response
from pydantic import BaseModel, ConfigDict, StringConstraints, TypeAdapter, ValidationError

from server.access.actor import Allowed
from server.access.auth import Auth
from server.access.parts import Database, PublicUrl, Secrets
from server.db.runs.runs import find_run
from server.errors import WorkerListInvalid
from server.export.spreadsheet import CSV, csv_table
from server.recruiters.arrival import WorkerId, personal_link

_COLUMN = "worker"
LISTS_PATH = re.compile(r"/api/desk/runs/[^/]+/links\.csv")
LISTS_MOST_BYTES = 2_100_000  # of a request: the longest list, plus overhead of JSON
_LONGEST = 2_000_000  # characters of a list
_worker_ids: TypeAdapter[str] = TypeAdapter(WorkerId)


class WorkerList(BaseModel):
    """Ids of workers: one per line, or CSV with a column `worker`."""

    model_config = ConfigDict(extra="forbid")
    workers: Annotated[str, StringConstraints(max_length=_LONGEST)]


router = APIRouter(prefix="/api/desk/runs", tags=["runs"], dependencies=[Depends(Allowed("see_worker_ids"))])


@router.post("/{run}/links.csv", **CSV)
async def make_links(
    run: str, body: WorkerList, store: Database, auth: Secrets, public_url: PublicUrl
) -> Response:
    """Return a personal link for each worker of a list, as CSV with the columns worker and link."""
    await store.read(lambda connection: find_run(connection, run))

    def make() -> str:
        return links_csv(signed_links(auth, public_url, run, read_workers(body.workers, "the list")))

    text = await asyncio.to_thread(make)  # a long list takes a while
    headers = {"Content-Disposition": 'attachment; filename="links.csv"'}
    return Response(text, media_type="text/csv; charset=utf-8", headers=headers)


def signed_links(auth: Auth, public_url: str, run: str, workers: Sequence[str]) -> list[tuple[str, str]]:
    """Return each worker's id with their link to `run`, which begins with `public_url`."""
    return [(one, personal_link(public_url, run, one, auth.link_signature(run, one))) for one in workers]


def links_csv(links: Sequence[tuple[str, str]]) -> str:
    """Return links as CSV."""
    return csv_table([_COLUMN, "link"], links)


def read_workers(text: str, name: str) -> list[str]:
    """Return the ids in a list, in order. `name`: of the list, for errors. Raises WorkerListInvalid."""
    try:
        rows = list(csv.reader(text.removeprefix("\ufeff").splitlines()))
    except csv.Error as error:
        raise WorkerListInvalid(
            f"{name}: is not valid CSV: {error}", "Save the list as CSV, UTF-8."
        ) from error
    found: dict[str, int] = {}
    for line, written in _cells(rows, name):
        worker = _checked(written, f"{name}, line {line}")
        if worker in found:
            raise WorkerListInvalid(
                f"{name}, line {line}: the worker `{worker}` is in line {found[worker]} already",
                "Give each worker a different id: people with the same link count as the same worker.",
            )
        found[worker] = line
    if not found:
        raise WorkerListInvalid(f"{name}: it contains no worker", "Write one id per line.")
    return list(found)


def _cells(rows: list[list[str]], name: str) -> Iterator[tuple[int, str]]:
    """Yield the ids as written, each with its line number from 1."""
    header = [cell.strip().lower() for cell in rows[0]] if rows else []
    if _COLUMN not in header and any(len(row) > 1 for row in rows):
        raise WorkerListInvalid(
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
        raise WorkerListInvalid(
            f"{where}: this is not a valid worker's id: {reason}",
            "An id has 1 to 200 characters, and no control characters.",
        ) from error
