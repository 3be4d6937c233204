"""`python -m bots`: the same as the command `candor bots`."""

import typer

from bots import check, register

cli = typer.Typer(
    help="Register bots with a Candor server, so that studies can name them; check them; change them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
cli.add_typer(register.cli)
cli.add_typer(check.cli)

if __name__ == "__main__":
    cli()
