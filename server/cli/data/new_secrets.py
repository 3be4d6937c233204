"""`candor data new-secrets`: create new secrets for an installation whose secrets are lost or leaked."""

import typer

from candor.common.terminal import console, fail
from server.access.auth import load_signer, make_secrets, token_file
from server.cli.database import served, transaction
from server.cli.settings import Data, settings_from
from server.db.audit import CommandLine, record
from server.db.engine.secret_marks import replace_mark
from server.errors import CandorError

new_secrets_cli = typer.Typer(pretty_exceptions_enable=False, add_completion=False)


@new_secrets_cli.command()
def new_secrets(data: Data = None) -> None:
    """Create new secrets for an installation whose secrets are lost or leaked. Stop the server first.

    Links and completion codes that were given out are no longer valid, and workers who come back get other
    pseudonyms. Conversations and ratings do not change.
    """
    settings = settings_from(data=data)
    path = token_file(settings.data)
    if path.exists():
        fail(f"{path} exists", "If it is the wrong file, or its secrets have leaked, move it away first.")
    try:
        with served(settings), transaction(settings) as connection:
            make_secrets(settings.data)
            replace_mark(connection, "signing", load_signer(settings.data, settings.token_days).mark)
            record(connection, CommandLine(), "secrets.replace", path.name)
    except CandorError as error:
        fail(error.message, error.hint)
    console.print(
        f"Made {path}. Copy it to every other machine that serves this database, and start the server.",
        soft_wrap=True,
    )
