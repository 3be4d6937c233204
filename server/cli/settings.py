"""Settings as command options, and their list for `--help`."""

import json
import os
import sys
from pathlib import Path
from shutil import which
from typing import Annotated, Any

import typer
from pydantic import ValidationError
from pydantic_settings import SettingsError
from rich.markup import escape

from bots import Moderation
from candor.common.terminal import fail
from server.config import Settings

_FIELDS = Settings.model_fields


def _default(name: str) -> str:
    return str(_FIELDS[name].default)


Host = Annotated[str | None, typer.Option(help="Address to listen on.", show_default=_default("host"))]
Port = Annotated[int | None, typer.Option(help="Port to listen on.", show_default=_default("port"))]
Data = Annotated[
    Path | None,
    typer.Option(help="Folder of the database and the secrets.", show_default=_default("data")),
]

Processes = Annotated[
    int | None,
    typer.Option(help="Number of web processes.", show_default=_default("processes")),
]


def settings_from(**given: Any) -> Settings:
    """Return the settings from the environment and the given options. An invalid one ends the command."""
    try:
        return Settings(**{name: value for name, value in given.items() if value is not None})
    except ValidationError as error:
        problems = "; ".join(f"{'.'.join(str(k) for k in e['loc'])}: {e['msg']}" for e in error.errors())
        fail(f"a setting is wrong: {problems}", "Correct the option, or the CANDOR_… variable of that name.")
    except SettingsError as error:
        fail(f"a setting is wrong: {error}", "Correct the CANDOR_… variable of that name; a list is JSON.")


def moderation_from(settings: Settings) -> Moderation | None:
    """Return the service that moderates replies of bots in checks and messages of runs; None without one."""
    url = settings.moderation_url
    return None if url is None else Moderation(url, settings.moderation_key)


def variables_help() -> str:
    """Return the list of environment variables for a command's help."""
    paragraphs = ["You can also set these environment variables:"]
    for name, field in _FIELDS.items():
        variable = f"{Settings.model_config['env_prefix']}{name}".upper()
        default = _as_typed(field.default)
        shown = f" ({escape(default)})" if default else ""
        paragraphs.append(f"[b]{variable}[/b]: {escape(field.description or '')}{shown}")
    return "\n\n".join(paragraphs)


def _as_typed(default: object) -> str:
    if default is None:
        return ""
    return json.dumps(default) if isinstance(default, list | bool) else str(default)


def own_command() -> str:
    """Return how to call this `candor`: by its name if it is on the search path, else by its path."""
    beside = Path(sys.executable).with_name("candor")
    found = which("candor")
    if found is not None and Path(found).resolve() == beside.resolve():
        return "candor"
    return os.path.relpath(beside) if beside.is_relative_to(Path.cwd()) else str(beside)
