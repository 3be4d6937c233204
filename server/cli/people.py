"""`candor people` and `candor token`: manage accounts of the desk and their roles, and tokens."""

import asyncio
import sys
from datetime import datetime
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from candor.common.terminal import console, fail, stderr
from server.access import people, sign_ins, tokens
from server.access.roles import ALL_STUDIES, Role
from server.cli.installation import Data, own_command, settings_from, transaction_or_fail
from server.clock import utc_now
from server.config import Settings
from server.db.audit import CommandLine, record
from server.desk.people.mail import InvitationMail
from server.desk.people.people import PersonWithLink, linked, made, password_link, revoke, said
from server.study.texts import InvitationTexts

cli = typer.Typer(
    help="Manage who may sign in at the desk, and their roles.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
Name = Annotated[str, typer.Argument(help="The name to sign in with, such as an e-mail address.")]
Study = Annotated[str | None, typer.Option(help="Limit the role to this study.", show_default="all")]
ByMail = Annotated[
    bool, typer.Option("--mail", help="Also send the link by e-mail. The name must be the address.")
]
RoleOption = Annotated[
    Role,
    typer.Option(
        help="viewer: progress; analyst: also transcripts and scores; researcher: everything but accounts."
    ),
]


@cli.command("add")
def add_person(
    name: Name,
    role: RoleOption = "researcher",
    study: Study = None,
    by_mail: ByMail = False,
    data: Data = None,
) -> None:
    """Add an account, and print a link that works once, for choosing its password."""
    where, at, settings = study or ALL_STUDIES, utc_now(), settings_from(data=data)
    with transaction_or_fail(data) as connection:
        if by_mail:
            InvitationMail(settings).require(name)
        person = people.add(connection, name, role, where, at)
        record(connection, CommandLine(), "person.add", name.lower(), said(role, where))
        secret = sign_ins.new_link(connection, person, at)
        found = linked(settings.resolved_public_url, connection, name, secret)
        texts = InvitationMail(settings).texts_for(where, connection)
    _hand_over(settings, found, f" ({said(role, where)})", where, texts if by_mail else None)


@cli.command("link")
def new_link(name: Name, by_mail: ByMail = False, data: Data = None) -> None:
    """Print a link that works once, for choosing another password."""
    settings = settings_from(data=data)
    with transaction_or_fail(data) as connection:
        if by_mail:
            InvitationMail(settings).require(name)
        member = people.require(connection, name)
        record(connection, CommandLine(), "person.link", member.name)
        secret = sign_ins.new_link(connection, member.id, utc_now())
        found = linked(settings.resolved_public_url, connection, name, secret)
        texts = InvitationMail(settings).texts_for(ALL_STUDIES, connection)
    _hand_over(settings, found, "", ALL_STUDIES, texts if by_mail else None)


def _hand_over(
    settings: Settings, found: PersonWithLink, role: str, study: str, texts: InvitationTexts | None
) -> None:
    """Print a link and, with `texts`, send it. The command fails if the e-mail could not be sent."""
    sys.stdout.write(found.link + "\n")
    stderr.print(f"For [bold]{escape(found.name)}[/]{role}: the link works once, within a week.")
    if texts is not None:
        mail = InvitationMail(settings)
        sending = mail.send_any(
            texts,
            found.name,
            None,
            study,
            found.link,
            found.link_expires_at,
            has_password=found.has_password,
        )
        sent = asyncio.run(sending)
        if sent.mail_failure is not None:
            fail(f"the e-mail could not be sent: {sent.mail_failure}", "Send the link yourself.")
        stderr.print(f"The link was sent to {escape(found.name)}.")


@cli.command("list")
def list_people(data: Data = None) -> None:
    """List all accounts, with their roles."""
    with transaction_or_fail(data) as connection:
        found = people.every(connection)
    table = Table("name", "roles", "password", box=None)
    for member in found:
        roles = ", ".join(said(role, study) for study, role in member.roles.items())
        table.add_row(escape(member.name), escape(roles), "yes" if member.password else "not yet")
    if found:
        console.print(table)
    else:
        console.print(
            f"There is no account yet. Add one: `{own_command()} people add NAME --role owner`.",
            soft_wrap=True,
        )


@cli.command("role")
def set_role(
    name: Name,
    role: Annotated[Role, typer.Argument(help="The role.")],
    study: Study = None,
    data: Data = None,
) -> None:
    """Give an account a role, for one study or for all. If it has two roles, the higher one counts.

    The first role for all studies cancels the account's password, and prints a link for choosing another.
    """
    where = study or ALL_STUDIES
    with transaction_or_fail(data) as connection:
        needs_link = people.set_role(connection, name, role, where)
        record(connection, CommandLine(), "person.role", name.lower(), said(role, where))
        member = people.require(connection, name)
        secret = sign_ins.new_link(connection, member.id, utc_now()) if needs_link else None
    if secret is not None:
        sys.stdout.write(password_link(settings_from(data=data).resolved_public_url, secret) + "\n")
    console.print(f"[bold]{escape(name)}[/] is {said(role, where)}.")


@cli.command("remove")
def remove_person(name: Name, data: Data = None) -> None:
    """Remove an account. A running server signs it out at once."""
    with transaction_or_fail(data) as connection:
        people.remove(connection, name, utc_now())
        record(connection, CommandLine(), "person.remove", name.lower())
    console.print(f"[bold]{escape(name)}[/] is removed.")


token_cli = typer.Typer(
    help="Create, list and revoke tokens of researchers, and of bot hosts that connect to the server.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)


@token_cli.command("new")
def new_token(
    name: Annotated[str, typer.Option(help="A name for the token, such as its owner's.")],
    scope: Annotated[
        tokens.Scope,
        typer.Option("--for", help="The role of the token, or host for a bot host that connects."),
    ] = "researcher",
    study: Annotated[
        str | None, typer.Option(help="Limit the token to this study.", show_default="all")
    ] = None,
    data: Data = None,
) -> None:
    """Create a token and print it. It cannot be shown again. A running server accepts it at once."""
    with transaction_or_fail(data) as connection:
        granted = made(connection, CommandLine(), name, scope, study or ALL_STUDIES)
    sys.stdout.write(granted.token + "\n")
    what = said(scope, study or ALL_STUDIES)
    stderr.print(f"The token of [bold]{name}[/] ({what}). Keep it: it cannot be shown again.")


@token_cli.command("list")
def list_tokens(data: Data = None) -> None:
    """List tokens by name. The tokens themselves are not stored."""
    with transaction_or_fail(data) as connection:
        found = tokens.every(connection)
    table = Table("name", "for", "study", "created", "revoked", box=None)
    for grant in found:
        table.add_row(
            grant.name,
            grant.scope,
            grant.study or "all",
            _minute(grant.created_at),
            _minute(grant.revoked_at),
        )
    console.print(table if found else "There are no tokens yet. Create one with `candor token new`.")


@token_cli.command("revoke")
def revoke_token(
    name: Annotated[str, typer.Argument(help="The token's name, as listed.")], data: Data = None
) -> None:
    """Revoke a token. A running server refuses it at once."""
    with transaction_or_fail(data) as connection:
        revoke(connection, CommandLine(), name)
    console.print(f"The token of [bold]{name}[/] is revoked.")


def _minute(at: datetime | None) -> str:
    return "" if at is None else f"{at:%Y-%m-%d %H:%M} UTC"
