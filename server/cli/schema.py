"""`candor schema`: what the pages' types are made from."""

import json
import sys
from typing import Annotated

import typer

from server.app import api_schema
from server.session.protocol import json_schema

cli = typer.Typer(pretty_exceptions_enable=False, add_completion=False)


@cli.command()
def schema(
    api: Annotated[bool, typer.Option("--api", help="The OpenAPI schema of the researcher's API.")] = False,
) -> None:
    """Print the JSON Schema of the workers' wire, or with --api that of the researcher's API."""
    sys.stdout.write(json.dumps(api_schema() if api else json_schema(), indent=2) + "\n")
