"""A number by which a caller names a row."""

from typing import Annotated

from pydantic import Field

# Of a column of PostgreSQL; SQLite holds more, and a number beyond it was a fault of the server's.
MOST = 2**31 - 1
RowNumber = Annotated[int, Field(ge=0, le=MOST)]  # in an address, where every number is a text
GivenNumber = Annotated[int, Field(ge=0, le=MOST, strict=True)]  # in a body
