"""Check the header of an export before its fields are read."""

from typing import Any

from pydantic_core import from_json

from qc.errors import DataError, Problem, SourceError


def parsed_header(source: str, where: str, content: bytes, remedy: str) -> Any:
    """Return the JSON value in `content`, which stands at `where` in `source`.

    Raises:
        DataError: it is not JSON.
    """
    try:
        return from_json(content, allow_inf_nan=False)
    except ValueError as error:
        raise DataError(source, [Problem(where, f"is not JSON ({error}).", remedy)]) from None


def require_readable(source: str, given: object, newest: int) -> None:
    """Refuse a header whose `version` is above the newest one that this program reads.

    One without a version, or with what is none, is left to the check of its fields.

    Raises:
        SourceError: it is of a newer version.
    """
    version = given.get("version") if isinstance(given, dict) else None
    if isinstance(version, int) and version > newest:
        raise SourceError(
            f"{source}: this export is of version {version}, and this program reads up to version {newest}. "
            "Install a newer release of Candor."
        )
