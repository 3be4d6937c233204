"""Tables as CSV for people, who open them in a spreadsheet."""

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

from fastapi import Response

from server.export.spreadsheet import harmless

# What FastAPI is told of an endpoint that answers such a table.
CSV: dict[str, Any] = {
    "response_class": Response,
    "responses": {200: {"content": {"text/csv": {"schema": {"type": "string"}}}}},
}


def csv_table(names: Sequence[str], rows: Iterable[Iterable[str | None]]) -> str:
    """Return rows as CSV under a line of names.

    A cell that a spreadsheet would take for a formula starts with an apostrophe: what workers call themselves
    is in such tables, and must compute nothing. Where a semicolon separates cells, as in much of Europe,
    another begins behind each of them.
    """
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(names)
    table.writerows([_harmless(cell or "") for cell in row] for row in rows)
    return text.getvalue()


def _harmless(cell: str) -> str:
    return ";".join(map(harmless, cell.split(";")))
