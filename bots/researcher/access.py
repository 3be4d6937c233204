"""Address of the server, and a researcher's token for it."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import typer

SERVER = "http://127.0.0.1:8000"
_SECRETS = Path("candor-data/secrets.json")

Server = Annotated[str, typer.Option("--server", help="Where the Candor server is.", metavar="URL")]
Token = Annotated[
    str | None,
    typer.Option(
        envvar="CANDOR_TOKEN",
        help="The researcher's token.",
        show_default="that of the server whose candor-data lies in this folder",
    ),
]


class NoAccess(ValueError):
    """The server cannot be asked: says what to give."""


@dataclass(frozen=True, slots=True)
class Access:
    """A server's address and a researcher's token."""

    server: str
    token: str = field(repr=False)


def access(server: str, token: str | None) -> Access:
    """Return how the researcher's API of `server` is reached, with this folder's token where none is given.

    Raises:
        NoAccess: `server` is no address, or there is no token.
    """
    parts = urlsplit(server)
    if parts.scheme not in {"http", "https"} or not parts.netloc:
        raise NoAccess(f"--server {server}: not an address; write it like {SERVER}")
    given = (token or _own_token()).strip()
    if not given.isascii() or not given.isprintable():
        raise NoAccess("the token has characters in it that no token has: copy it again")
    return Access(f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}", given)


def _own_token() -> str:
    try:
        return str(json.loads(_SECRETS.read_text(encoding="utf-8"))["researcher_token"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise NoAccess(
            "the researcher's token is needed: pass --token or set CANDOR_TOKEN. It is the end of the link"
            " that the server printed; `candor token new --name NAME` makes another."
        ) from error
