"""`candor data schema`: the schemas of the worker protocol, of the researcher's API, and of a study file."""

import copy
import json
import sys
from typing import Annotated, Any

import typer

from server.app import api_schema
from server.session.protocol import json_schema
from server.study import study_schema
from server.study.texts import ENGLISH

cli = typer.Typer(pretty_exceptions_enable=False, add_completion=False)


@cli.command()
def schema(
    api: Annotated[bool, typer.Option("--api", help="The OpenAPI schema of the researcher's API.")] = False,
    study: Annotated[
        bool, typer.Option("--study", help="The JSON Schema of study files, for editors that complete them.")
    ] = False,
) -> None:
    """Print the JSON Schema of the worker protocol, or with --api or --study another schema."""
    if api and study:
        raise typer.BadParameter("--api and --study name two schemas: ask for one at a time")
    content = api_schema() if api else file_schema() if study else page_schema()
    sys.stdout.write(json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def page_schema() -> dict[str, Any]:
    """Return the schema of the worker protocol, with the English texts as `texts`.

    The page shows these texts until the server sends those of the study.
    """
    texts = ENGLISH.model_dump(mode="json")["words"]
    return json_schema() | {"texts": texts}


def file_schema() -> dict[str, Any]:
    """Return the schema of a study file, for editors.

    A published criterion needs no statement, as in the file: only the study that is read has one for each.
    """
    schema = copy.deepcopy(study_schema())
    schema["$defs"]["Criterion"]["required"].remove("statement")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema"} | schema
