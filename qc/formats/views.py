"""Constants of the server's export of a run: rows of its views, in one file or an archive.

The server writes it (`candor data export --format jsonl`, …). Its header is the first line of
JSON Lines, and the member `HEADER` of an archive. In JSON Lines each further line is a row, and `view` names
its view.
"""

import re
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from qc.formats.published import StrictModel


def beginning(name: str) -> re.Pattern[bytes]:
    """Return a pattern for the first bytes of JSON whose first field is `"format": name`."""
    return re.compile(rb'\s*\{\s*"format"\s*:\s*"' + name.encode() + rb'"')


FORMAT = "candor-views"
VERSION = 1
HEADER = "header.json"
PEEKED = 64  # number of bytes to check for BEGINNING
BEGINNING = beginning(FORMAT)

Kind = Literal["text", "integer", "number", "flag", "time"]
Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$")]


class ExportedView(StrictModel):
    """Number of rows of a view, and the types of its columns."""

    rows: Annotated[int, Field(ge=0)]
    columns: Annotated[dict[Name, Kind], Field(min_length=1)]


class ViewsHeader(StrictModel):
    """Content of the file; the counts detect a file that was cut short."""

    format: str = FORMAT
    version: int = VERSION
    run: str
    study: str
    views: dict[Name, ExportedView]
