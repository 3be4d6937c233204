"""Write CSV tables that are safe to open in a spreadsheet."""

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

from fastapi import Response

from candor.common.spreadsheet import harmless

# FastAPI's arguments for an endpoint that returns CSV.
CSV: dict[str, Any] = {
    "response_class": Response,
    "responses": {200: {"content": {"text/csv": {"schema": {"type": "string"}}}}},
}


def csv_table(names: Sequence[str], rows: Iterable[Iterable[str | None]]) -> str:
    """Return rows as CSV with a header row.

    A cell that a spreadsheet would take for a formula gets an apostrophe in front, because such tables
    contain workers' ids. This also holds after each semicolon, which separates cells in much of Europe.
    """
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(names)
    table.writerows([_harmless(cell or "") for cell in row] for row in rows)
    return text.getvalue()


def _harmless(cell: str) -> str:
    return ";".join(map(harmless, cell.split(";")))
