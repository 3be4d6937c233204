"""Write the pages of docs/reference that follow from the code.

`python scripts/reference.py` in a checkout. `tests/test_documented_commands.py` compares the pages with it.
"""

import inspect
import json
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import Any

from sqlalchemy import text
from typer.main import get_command

import server.errors
from bots.core.failures import BotError
from scripts.code_pages import packages, stored_data
from scripts.markdown import entry, in_code, plain, table
from scripts.metric_pages import metrics
from scripts.report_pages import files_of_reports, keys_of_reports
from server.cli.command_line import COMMANDS
from server.config import Settings
from server.db.engine import migrate, open_engine
from server.export.views import VIEWS, kind_of
from server.run_rules import RunRules
from server.study.settings import study_schema

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "reference"
DESK = ROOT / "frontend" / "src" / "desk"
Schema = dict[str, Any]


def setting(path: tuple[str, ...], schema: Schema) -> str:
    """Return a setting's name on the desk, its hint, and the meanings of its values."""
    title = schema.get("title", path[-1].replace("_", " ").capitalize())
    values = [f"`{value}`: {said}." for value, said in schema.get("x-words", {}).items()]
    stop = "" if title.endswith(("?", "”")) else "."
    return " ".join(filter(None, (f"**{title}{stop}**", schema.get("description", ""), *values)))


class Outline:
    """The settings of a JSON schema, in a list.

    `describe` returns the description of a setting from its path, in which `*` is any number or name.
    """

    def __init__(self, schema: Schema, describe: Callable[[tuple[str, ...], Schema], str]) -> None:
        """Keep the schema."""
        self._schema, self._describe = schema, describe
        self._told: dict[str, str] = {}

    def entries(self, names: Iterable[str]) -> Iterator[str]:
        """Yield the entries of settings and of everything in them."""
        for name in names:
            required = name in self._schema.get("required", ())
            yield from self._setting((name,), (name,), self._schema["properties"][name], required, "")

    def _setting(
        self, path: tuple[str, ...], shown: tuple[str, ...], schema: Schema, required: bool, only: str
    ) -> Iterator[str]:
        choices = list(self._alternatives(schema))
        values = values_of(choices)
        name, item = ".".join(shown), schema.get("items", {}).get("$ref")
        like = self._told.setdefault(item, name) if item else name
        values += [] if like == name else [f"as in {in_code(like)}"]
        said = f"{self._describe(path, schema)}{only}"
        yield entry(name, said, *values, default_of(schema, required))
        if like == name:
            yield from self._within(path, shown, choices)

    def _within(self, path: tuple[str, ...], shown: tuple[str, ...], choices: list[Schema]) -> Iterator[str]:
        parts: dict[str, list[tuple[str, Schema, bool]]] = {}
        owners = [each for each in choices if "properties" in each]
        for owner in owners:
            kind = owner["properties"].get("kind", {}).get("const", "")
            for name, part in owner["properties"].items():
                parts.setdefault(name, []).append((kind, part, name in owner.get("required", ())))
        for name, found in parts.items():
            kinds = [kind for kind, _, _ in found if kind]
            if name == "kind" and kinds:
                said = " or ".join(map(in_code, kinds))
                described = self._describe((*path, name), found[0][1])
                yield entry(".".join([*shown, name]), described, said, "required")
                continue
            kinds = [] if len(found) == len(owners) else kinds
            kinds = kinds or found[0][1].get("x-kinds", [])
            only = f" Only for {', '.join(map(in_code, kinds))}." if kinds else ""
            same = all(part.get("default") == found[0][1].get("default") for _, part, _ in found)
            part = found[0][1] if same else {**found[0][1], "default": ...}
            required = all(needed for _, _, needed in found)
            yield from self._setting((*path, name), (*shown, name), part, required, only)
        for each in choices:
            if "items" in each:
                inner = list(self._alternatives(each["items"]))
                yield from self._within((*path, "*"), (*shown[:-1], f"{shown[-1]}[]"), inner)
            for inner in (each.get("additionalProperties"), *each.get("patternProperties", {}).values()):
                if isinstance(inner, dict):
                    yield from self._within((*path, "*"), (*shown, "NAME"), list(self._alternatives(inner)))

    def _alternatives(self, schema: Schema) -> Iterator[Schema]:
        if "$ref" in schema:
            schema = self._schema["$defs"][schema["$ref"].rpartition("/")[2]]
        choices = schema.get("anyOf") or schema.get("oneOf")
        if choices is None:
            yield schema
        else:
            for choice in choices:
                yield from self._alternatives(choice)


def values_of(choices: list[Schema]) -> list[str]:
    """Return in words what a setting with these alternatives can be; decimals may be texts, too."""
    is_decimal = {each.get("type") for each in choices} == {"number", "string"}
    kept = [each for each in choices if not (is_decimal and each["type"] == "string")]
    return [words for words in dict.fromkeys(map(value_of, kept)) if words]


def value_of(schema: Schema) -> str:
    """Return in words which values a schema allows; empty for null."""
    for fixed in (schema.get("enum"), [schema["const"]] if "const" in schema else None):
        if fixed:
            return ", ".join(map(in_code, fixed))
    match schema.get("type"):
        case "integer" | "number" as kind:
            return f"{'whole number' if kind == 'integer' else 'number'}{range_of(schema)}"
        case "boolean":
            return "`true` or `false`"
        case "string":
            return "time, such as `09:30`" if schema.get("format") == "time" else "text"
        case "array":
            return "list"
        case "object":
            return "settings" if "properties" in schema else "names with values"
        case _:
            return ""


def range_of(schema: Schema) -> str:
    """Return the range of a number in words, with a blank before it; empty without limits."""
    limits = {"minimum": "from", "exclusiveMinimum": "above", "maximum": "to"}
    given = {words: schema[name] for name, words in limits.items() if name in schema}
    return "".join(f" {words} {limit:,.10g}" for words, limit in given.items() if abs(limit) < 10**15)


def default_of(schema: Schema, required: bool) -> str:
    """Return in words whether a setting is required, or its default; empty if it has none of its own."""
    default = schema.get("default")
    if required:
        return "required"
    if default is ...:
        return "default by kind"
    if default is None or default in ("", []) or isinstance(default, dict):
        return ""
    if isinstance(default, str) and len(default) > 60:
        return "default: a shipped text"
    whole = isinstance(default, float) and default.is_integer()
    return f"default {in_code(int(default) if whole else default)}"


def settings_of_a_study() -> str:
    """Return the page of a study's settings, in the steps of the desk's form."""
    schema = study_schema()
    outline = Outline(schema, setting)
    steps = (DESK / "studies" / "steps.ts").read_text(encoding="utf-8")
    found = re.findall(r'title: "([^"]+)",\s+about: "([^"]+)",\s+settings: \[([^\]]*)\]', steps)
    given = [(title, about, re.findall(r'"(\w+)"', settings)) for title, about, settings in found]
    placed = {name for *_, settings in given for name in settings}
    rest = [name for name in schema["properties"] if name not in placed]
    parts = [
        ("The file", "Settings that are in the YAML only, or in another place on the desk.", rest),
        *given,
    ]
    tables = [
        "\n".join([f"## {title}\n\n{about}\n", *outline.entries(settings), ""])
        for title, about, settings in parts
        if settings
    ]
    return "\n".join(
        [
            "# Settings of a study\n",
            "The sections are the steps of the form on the desk, and the bold words are the names there. "
            "In a list, `[]` stands for each item; `NAME` is a name of your own. A setting that a study "
            "does not have keeps its default; without one, nothing is set.\n\n"
            "For completion and checks in an editor that knows JSON Schema, run `candor data schema "
            "--study > study.schema.json` and begin the file with `# yaml-language-server: "
            "$schema=study.schema.json`.\n",
            *tables,
        ]
    )


def settings_of_a_run() -> str:
    """Return the page of a run's rules."""
    schema = RunRules.model_json_schema()
    outline = Outline(schema, lambda _, part: part.get("description", ""))
    return (
        "# Rules of a run\n\n"
        "A run has these rules from when it is opened, and they can be changed while it is open: *Settings*, "
        "*Change rules* on the run's page, or `candor run rules RUN FILE`. A rule that is left out limits "
        "nothing. Rules apply to people, not to simulated workers. [Stop when it is precise enough]"
        "(../how-to/studies/stop-a-run.md) has an example.\n\n"
        + "\n".join(outline.entries(schema["properties"]))
    )


def settings_of_a_server() -> str:
    """Return the page of the server's environment variables."""
    entries = []
    for name, schema in Settings.model_json_schema()["properties"].items():
        said, choices = schema["description"], schema.get("anyOf", [schema])
        facts = (*values_of(choices), default_of(schema, required=False))
        entries.append(entry(f"CANDOR_{name.upper()}", plain(f"{said[0].upper()}{said[1:]}."), *facts))
    return (
        "# Settings of a server\n\n"
        "Set these environment variables where the server starts; `candor serve` takes some of them as "
        "options, too. Lists and mappings are JSON. A limit such as `120/minute` allows that number in "
        "that time.\n\n" + "\n".join(entries)
    )


def commands() -> str:
    """Return the page of all commands, with their options."""
    parts = [
        "# Commands\n",
        "`candor NAME --help` prints the same. Within a checkout, write `.venv/bin/candor`.\n",
    ]
    for first, names in groupby(COMMANDS, key=lambda name: name.split()[0]):
        found = [leaf for name in names for leaf in leaves(name, of_line(name))]
        if [name for name, _ in found] != [first]:
            parts.append(f"## candor {first}\n")
        parts += [command_section(name, command) for name, command in found]
    return "\n".join(parts)


def of_line(name: str) -> Any:
    """Return a command of the command line."""
    return get_command(getattr(import_module(COMMANDS[name].module), COMMANDS[name].app))


def leaves(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    """Yield a command, or all commands of a group, with their full names."""
    inner = getattr(command, "commands", None)
    if inner is None:
        yield name, command
    else:
        for own, each in inner.items():
            if not each.hidden:
                yield from leaves(f"{name} {own}", each)


def command_section(name: str, command: Any) -> str:
    """Return the section of a command."""
    shown = [each for each in command.params if not getattr(each, "hidden", False)]
    arguments = [each for each in shown if each.param_type_name == "argument"]
    options = [each for each in shown if each.param_type_name == "option" and "--help" not in each.opts]
    usage = [
        "candor",
        name,
        *(argument_name(each) for each in arguments),
        *(["[OPTIONS]"] if options else []),
    ]
    help_text, _, examples = inspect.cleandoc(command.help or "").partition("Examples:")
    said = f"\n{plain(help_text)}\n"
    if examples:
        lines = "\n\n".join(each.replace("\n", " \\\n    ") for each in examples.strip().split("\n\n"))
        said += f"\n```\n{lines}\n```\n"
    rows = [(f"`{argument_name(each)}`", plain(each.help or ""), "") for each in arguments]
    rows += [(option_name(each), plain(each.help or ""), option_default(each)) for each in options]
    listed = f"\n{table(('argument or option', 'meaning', 'default'), rows)}" if rows else ""
    level = "###" if " " in name else "##"
    return f"{level} candor {name}\n\n`{' '.join(usage)}`\n{said}{listed}"


def argument_name(argument: Any) -> str:
    """Return an argument as usage lines show it."""
    name = argument.metavar or argument.name.upper()
    return name if argument.required or name.startswith("[") else f"[{name}]"


def option_name(option: Any) -> str:
    """Return an option with its other names."""
    return ", ".join(f"`{each}`" for each in (*option.opts, *option.secondary_opts))


def option_default(option: Any) -> str:
    """Return the default of an option; empty if it has none to show."""
    if option.required:
        return "required"
    if isinstance(option.show_default, str):
        return plain(option.show_default)
    default = option.default
    if default in (None, "", False, (), []) or callable(default) or default is True:
        return ""
    return in_code(str(default))


def calls() -> str:
    """Return the page of the API's calls."""
    api = json.loads((DESK / "openapi.json").read_text(encoding="utf-8"))
    found = [
        (call.get("tags", ["joining"])[0], method.upper(), path, call)
        for path, methods in api["paths"].items()
        for method, call in methods.items()
    ]
    order = dict.fromkeys(tag for tag, *_ in found)
    found.sort(key=lambda each: list(order).index(each[0]))
    parts = [
        "# The REST API\n",
        "A running server describes every call with its types at `/api/docs`, from the schema at "
        "`/api/openapi.json`. Send a token as `Authorization: Bearer TOKEN`; `candor token new` makes one. "
        "Errors have a `code`, a `message` and a `hint`: [Errors](errors.md). Words in braces are parts of "
        "the path. A call takes the fields that are listed after it, in the query or in a JSON body; those "
        "in bold are required.\n",
    ]
    for tag, some in groupby(found, key=lambda each: each[0]):
        parts.append(f"## {tag.capitalize()}\n")
        for _, method, path, call in some:
            fields = ", ".join(sent(api, call))
            said = plain(call.get("description", "").split("\n\n")[0])
            parts.append(entry(f"{method} {path}", f"{said}{f' Takes {fields}.' if fields else ''}"))
        parts.append("")
    return "\n".join(parts)


def sent(api: Schema, call: Schema) -> Iterator[str]:
    """Yield the parameters and the fields of the body of a call."""
    for each in call.get("parameters", ()):
        if each["in"] == "query":
            name = in_code(each["name"])
            yield f"**{name}**" if each.get("required") else name
    content = call.get("requestBody", {}).get("content", {})
    body = content.get("application/json", {}).get("schema", {})
    if "$ref" in body:
        body = api["components"]["schemas"][body["$ref"].rpartition("/")[2]]
    for field in body.get("properties", ()):
        yield f"**{in_code(field)}**" if field in body.get("required", ()) else in_code(field)


@cache
def columns_of_views() -> dict[str, list[str]]:
    """Return the columns of each exported view, in a new database."""
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/candor.db"
        migrate(url)
        engine = open_engine(url)
        with engine.connect() as connection:
            found = {
                view: list(connection.execute(text(f"SELECT * FROM {view} LIMIT 0")).keys())  # noqa: S608
                for view in VIEWS
            }
        engine.dispose()
    return found


def views() -> str:
    """Return the page of the exported views."""
    parts = [
        "# Views of the database\n",
        "Read these views, not the tables, which may change. New views and new last columns may come at "
        "any time; a view whose meaning changes gets a new number beside the old one. `candor data export "
        "--run RUN --format csv` writes them all; `jsonl` and `parquet` have the same columns. Times are "
        "in UTC. Columns without a type are text.\n",
    ]
    for view, columns in columns_of_views().items():
        kinds = [(column, kind_of(view, column)) for column in columns]
        listed = ", ".join(f"`{column}`" + ("" if kind == "text" else f" ({kind})") for column, kind in kinds)
        parts.append(f"## {view}\n\n{VIEWS[view].about}\n\n{listed}\n")
    return "\n".join(parts)


def errors() -> str:
    """Return the page of all errors that a caller can get, and of the failures of bots."""
    found: dict[str, str] = {}
    for name in server.errors.__all__:
        kind = getattr(server.errors, name)
        if not (inspect.isclass(kind) and issubclass(kind, server.errors.CandorError)):
            continue
        meaning = " ".join(inspect.cleandoc(kind.__doc__ or "").split("\n\n")[0].split())
        again = " You may send the same again after a while." if kind.retry else ""
        found.setdefault(kind.code, entry(kind.code, f"{meaning} *{kind.hint}*{again}", str(kind.status)))
    return (
        "# Errors\n\n"
        "Every error of the API, of the worker's socket and of the commands has a `message`, which says what "
        "happened, and a `hint`, which says what to do; programs go by the `code`. Over HTTP the body is "
        '`{"error": {"code": …, "message": …, "hint": …}}` with the status below. Hints are in italics.\n\n'
        + "\n".join(found[code] for code in sorted(found))
        + "\n\n## Failures of bots\n\n"
        "The kinds of failures in incidents, in views and in `candor_bot_failures_total`.\n\n"
        + "\n".join(failures(BotError))
    )


def failures(kind: type[BotError]) -> Iterator[str]:
    """Yield an entry for a kind of failure, and for those below it."""
    meaning = " ".join(inspect.cleandoc(kind.__doc__ or "").split("\n\n")[0].split())
    facts = (
        "" if kind.retry else "not asked again",
        "" if kind.counts_against_replica else "does not count against the replica",
    )
    yield entry(kind.kind, meaning, *facts)
    for below in kind.__subclasses__():
        if below.__module__ == kind.__module__:
            yield from failures(below)


PAGES: dict[str, Callable[[], str]] = {
    "settings-study.md": settings_of_a_study,
    "settings-run.md": settings_of_a_run,
    "settings-server.md": settings_of_a_server,
    "commands.md": commands,
    "api.md": calls,
    "views.md": views,
    "errors.md": errors,
    "report-json.md": keys_of_reports,
    "report-files.md": files_of_reports,
    "metrics.md": metrics,
    "packages.md": packages,
    "stored-data.md": stored_data,
}


def written(name: str) -> str:
    """Return a page, with the note that it is written by this script."""
    return f"<!-- Written by scripts/reference.py. -->\n\n{PAGES[name]().rstrip()}\n"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name in PAGES:
        (FOLDER / name).write_text(written(name), encoding="utf-8")
