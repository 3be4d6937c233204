"""Address of the server, and a researcher's token for it."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import typer
from pydantic_core import from_json

SERVER = "http://127.0.0.1:8000"
_DATA = Path("candor-data")

Server = Annotated[str, typer.Option("--server", help="The Candor server's address.", metavar="URL")]
Token = Annotated[
    str | None,
    typer.Option(
        envvar="CANDOR_TOKEN",
        help="The researcher's token.",
        show_default="the token in the data folder given by --data",
    ),
]
Data = Annotated[
    Path | None,
    typer.Option(
        "--data",
        envvar="CANDOR_DATA",
        help="The server's data folder, which contains its token.",
        show_default="candor-data in this folder",
    ),
]


class NoAccess(ValueError):
    """The server cannot be called. The message says which option is missing or wrong."""


@dataclass(frozen=True, slots=True)
class Access:
    """A server's address and a researcher's token."""

    server: str
    token: str = field(repr=False)


def access(server: str, token: str | None, data: Path | None = None) -> Access:
    """Return the address and the token for the researcher's API of `server`.

    Without a token, the one in the server's data folder `data` is used; None: `candor-data` in this folder.

    Raises:
        NoAccess: `server` is not an address, or there is no token.
    """
    parts = urlsplit(server)
    if parts.scheme not in {"http", "https"} or not parts.netloc:
        raise NoAccess(f"--server {server}: not an address; write it like {SERVER}")
    given = (token or _own_token((data or _DATA) / "secrets.json")).strip()
    if not given.isascii() or not given.isprintable():
        raise NoAccess("the token has characters in it that no token has: copy it again")
    return Access(f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}", given)


def _own_token(secrets: Path) -> str:
    try:
        return str(from_json(secrets.read_bytes())["researcher_token"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise NoAccess(
            f"No researcher's token was given, and {secrets} cannot be read. Name the server's data folder"
            " with --data, or make a token there with `candor token new --name NAME` and pass it with --token"
            " or CANDOR_TOKEN. The end of an invitation's link is no token."
        ) from error
