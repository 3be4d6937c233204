"""`candor schema`: what the pages' types are made from."""

import json
import sys
from typing import Annotated, Any

import typer

from server.app import api_schema
from server.session.protocol import json_schema
from server.study.texts import ENGLISH

cli = typer.Typer(pretty_exceptions_enable=False, add_completion=False)


@cli.command()
def schema(
    api: Annotated[bool, typer.Option("--api", help="The OpenAPI schema of the researcher's API.")] = False,
) -> None:
    """Print the JSON Schema of the workers' wire, or with --api that of the researcher's API."""
    content = api_schema() if api else page_schema()
    sys.stdout.write(json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def page_schema() -> dict[str, Any]:
    """Return what the worker's page is made from: the wire's schema, and the English texts as `texts`.

    These are what the page says until a server has told it other words.
    """
    texts = ENGLISH.model_dump(mode="json")["words"]
    return json_schema() | {"texts": texts}
