"""`candor data schema`: print the schemas from which the pages' types are generated."""

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
    """Print the JSON Schema of the worker protocol, or with --api the schema of the researcher's API."""
    content = api_schema() if api else page_schema()
    sys.stdout.write(json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def page_schema() -> dict[str, Any]:
    """Return the schema of the worker protocol, with the English texts as `texts`.

    The page shows these texts until the server sends those of the study.
    """
    texts = ENGLISH.model_dump(mode="json")["words"]
    return json_schema() | {"texts": texts}
