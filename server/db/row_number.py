"""A number by which a caller names a row."""

from typing import Annotated

from pydantic import Field

MOST = (
    2**31 - 1
)  # of a column of PostgreSQL; SQLite holds more, and a number beyond it was a fault of the server's
RowNumber = Annotated[int, Field(ge=0, le=MOST)]
