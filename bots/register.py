"""The commands that register bots with a server: `candor bots add NAME --kind …`."""

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml
from pydantic import TypeAdapter, ValidationError
from rich.box import SIMPLE
from rich.markup import escape
from rich.table import Column, Table

from bots.conformance.report import coloured, conformance_table
from bots.core.persona_prompt import PromptError, given_prompt
from bots.endpoints import KINDS, Endpoint
from bots.researcher_api import (
    SERVER,
    BotAnswer,
    Data,
    NoAccess,
    RequestFailed,
    ResearcherClient,
    Server,
    Token,
    access,
)
from candor.common.files import read_yaml
from candor.common.terminal import agree, console, fail

_ENDPOINT: TypeAdapter[Endpoint] = TypeAdapter(Endpoint)
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]{0,99}")
# Some keys consist of capitals and digits only. Names of variables are words: long ones contain a "_".
_CAPITAL_KEY = re.compile(r"(?=[^0-9]*[0-9])[A-Z0-9]{16,}")
_OPTIONS = {"urls": "--url", "max_tokens": "--max-tokens"}
_OWN_OPTIONS = ("urls", "model", "key", "prompt", "temperature", "max_tokens")
cli = typer.Typer(
    help="Register bots with a Candor server, so that studies can name them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
replicas = typer.Typer(help="Add servers to a bot, or remove them.", no_args_is_help=True)
cli.add_typer(replicas, name="replicas")

Name = Annotated[str, typer.Argument(help="The bot's name.")]
Replica = Annotated[str, typer.Argument(help="The replica's address.", metavar="URL")]


def _kind(given: str) -> str:
    if given not in KINDS:
        raise typer.BadParameter(f"{given!r} is not one of {', '.join(map(repr, KINDS))}.")
    return given


@cli.command()
def add(
    name: Annotated[
        str, typer.Argument(help="The bot's name in studies: lowercase letters, digits, - and _.")
    ],
    kind: Annotated[
        str, typer.Option(parser=_kind, metavar=f"[{'|'.join(KINDS)}]", help="The kind of server.")
    ],
    url: Annotated[
        list[str] | None,
        typer.Option(help="The server's address. Repeat it for several equivalent replicas."),
    ] = None,
    model: Annotated[str | None, typer.Option(help="The model's name on that server.")] = None,
    key: Annotated[
        str | None,
        typer.Option(
            metavar="VARIABLE",
            help="The environment variable of the Candor server that holds the key.",
        ),
    ] = None,
    prompt: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT|@FILE",
            help="A model's instructions. {persona} becomes the persona; without a persona, paragraphs "
            "with {persona} are left out.",
        ),
    ] = None,
    temperature: Annotated[float | None, typer.Option(help="For a model: from 0 to 2.")] = None,
    max_tokens: Annotated[int | None, typer.Option(help="For a model: the most tokens in a reply.")] = None,
    more: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="SETTING=VALUE",
            help="Any other setting of the kind, with a value as in a study. May be repeated.",
        ),
    ] = None,
    server: Server = SERVER,
    token: Token = None,
    data: Data = None,
) -> None:
    """Register a bot.

    Examples:

    candor bots add mine --kind http --url http://127.0.0.1:8601/mine

    candor bots add llama --kind openai --url http://gpu:8000/v1 --model llama-3 --key GPU_API_KEY

    candor bots add gpt --kind openai --url https://api.openai.com/v1 --model gpt-5-mini --key GPT_KEY \\
    --set reasoning_effort=low --set max_completion_tokens=400

    candor bots add far-away --kind dial-in
    """
    _require_variable(key)
    endpoint = _endpoint(
        kind,
        urls=url,
        model=model,
        key=key,
        prompt=_text(prompt),
        temperature=temperature,
        max_tokens=max_tokens,
        **_settings(more or []),
    )
    with _client(server, token, data) as client:
        bot = client.add(name, endpoint)
    console.print(f"[green]{escape(bot.name)} is registered.[/]", soft_wrap=True)
    if kind == "dial-in":
        console.print(_dial_in_help(bot.name, server), soft_wrap=True, markup=False)
    console.print(
        f"Is it fit for workers?  candor bots check {bot.name}\nIn a study:             bot: {bot.name}",
        soft_wrap=True,
        markup=False,
    )


@cli.command("list")
def list_(server: Server = SERVER, token: Token = None, data: Data = None) -> None:
    """List the registered bots."""
    with _client(server, token, data) as client:
        bots = client.bots()
    if not bots:
        console.print("No bot is registered. Add one: candor bots add --help")
        return
    table = Table("name", "kind", "replicas", "last check", "used by", box=SIMPLE)
    for bot in bots:
        table.add_row(
            escape(bot.name) + ("" if bot.enabled else " [red](disabled)[/]"),
            bot.endpoint.get("kind", ""),
            _states(bot),
            _last_check(bot),
            escape(", ".join(bot.used_by)) or "no open run",
        )
    console.print(table)


@cli.command()
def show(name: Name, server: Server = SERVER, token: Token = None, data: Data = None) -> None:
    """Show a bot: its settings, the state of its replicas, and the findings of its last check."""
    with _client(server, token, data) as client:
        bot, check = client.bot(name), client.check(name)
    facts = Table(show_header=False, box=None)
    for what, value in _facts(bot):
        facts.add_row(what, value)
    console.print(facts)
    if bot.replicas:
        console.print(_replica_table(bot))
    if check is not None and check.state == "running":
        console.print(f"It is being checked: {check.done} of {check.total} calls.")
    if check is not None and check.report is not None:
        console.print(conformance_table(check.report))


@cli.command()
def disable(name: Name, server: Server = SERVER, token: Token = None, data: Data = None) -> None:
    """Stop a bot from answering; conversations with it are replaced."""
    with _client(server, token, data) as client:
        bot = client.enable(name, False)
    console.print(f"{escape(bot.name)} is disabled.")


@cli.command()
def enable(name: Name, server: Server = SERVER, token: Token = None, data: Data = None) -> None:
    """Let a bot answer again."""
    with _client(server, token, data) as client:
        bot = client.enable(name, True)
    console.print(f"{escape(bot.name)} is enabled.")


@cli.command()
def delete(
    name: Name,
    yes: Annotated[bool, typer.Option("--yes", help="Delete the bot without asking.")] = False,
    server: Server = SERVER,
    token: Token = None,
    data: Data = None,
) -> None:
    """Delete a bot. The server refuses while an open run uses it."""
    with _client(server, token, data) as client:
        bot = client.bot(name)
        agree(f"This deletes {bot.name}, a bot of kind {bot.endpoint.get('kind')}.", yes=yes)
        client.delete(name)
    console.print(f"{escape(name)} is deleted.")


@replicas.command("add")
def add_replica(
    name: Name, url: Replica, server: Server = SERVER, token: Token = None, data: Data = None
) -> None:
    """Add a server to a bot, at once."""
    with _client(server, token, data) as client:
        bot = client.add_replica(name, url)
    console.print(_replica_table(bot))


@replicas.command("remove")
def remove_replica(
    name: Name, url: Replica, server: Server = SERVER, token: Token = None, data: Data = None
) -> None:
    """Remove a server from a bot; it finishes the replies under way."""
    with _client(server, token, data) as client:
        bot = client.remove_replica(name, url)
    console.print(_replica_table(bot))


@contextmanager
def _client(server: str, token: str | None, data: Path | None) -> Iterator[ResearcherClient]:
    """Connect to the server; if that fails, end the command with an error message."""
    try:
        with ResearcherClient(access(server, token, data)) as client:
            yield client
    except (NoAccess, RequestFailed) as error:
        fail(str(error))


def _require_variable(key: str | None) -> None:
    """Refuse a value that looks like a key where a variable's name belongs, without repeating it."""
    if key is None or (_VARIABLE.fullmatch(key) and not _CAPITAL_KEY.fullmatch(key)):
        return
    fail(
        "--key is the name of an environment variable, in capitals, as OPENAI_API_KEY. What you gave looks"
        " like a key itself: it was sent nowhere, but may be in your shell's history. Set the variable where"
        " the Candor server is started, and give its name here."
    )


def _text(prompt: str | None) -> str | None:
    try:
        return None if prompt is None else given_prompt(prompt)
    except PromptError as error:
        fail(f"--prompt: {error}")


def _settings(given: list[str]) -> dict[str, Any]:
    """Return the settings given by `--set`, with each value read as in a study."""
    settings: dict[str, Any] = {}
    for each in given:
        name, equals, value = each.partition("=")
        if not equals or not name.isidentifier() or name in {"kind", *_OWN_OPTIONS}:
            fail(f"--set {name}: expected SETTING=VALUE, with a setting that has no option of its own")
        try:
            settings[name] = read_yaml(value.encode())
        except (ValueError, yaml.YAMLError):
            fail(f"--set {name}: the value is not YAML; put it in quotes, as --set 'stop=[\"END\"]'")
    return settings


def _endpoint(kind: str, **options: Any) -> dict[str, Any]:
    """Return the endpoint in the server's format, or report the mistake in each option."""
    given = {setting: value for setting, value in options.items() if value is not None}
    try:
        endpoint = _ENDPOINT.validate_python({"kind": kind, **given})
    except ValidationError as error:
        fail("; ".join(_problem(kind, each["loc"], each["type"], each["msg"]) for each in error.errors()))
    return endpoint.model_dump(mode="json", exclude_unset=True)


def _problem(kind: str, where: tuple[int | str, ...], what: str, message: str) -> str:
    """Return a mistake in terms of this command's options, without the given value."""
    setting = str(where[1]) if len(where) > 1 else "spending_cap"  # the only check of two settings together
    own = _OPTIONS.get(setting, f"--{setting}")
    option = own if setting in _OWN_OPTIONS else f"--set {setting}"
    match what:
        case "missing":
            return f"{option} is needed for --kind {kind}"
        case "extra_forbidden":
            return f"{option} does not apply to --kind {kind}"
    return f"{option}: {message.removeprefix('Value error, ')}"


def _dial_in_help(name: str, server: str) -> str:
    """Return instructions for a bot host: make a token on the server, run a host beside the model."""
    socket = re.sub("^http", "ws", server)
    return (
        "Make a token where the server is, and start a host beside the model; it connects by itself:\n"
        f"  candor token new --name {name} --for host\n"
        f"  candor host hf:FOLDER_OR_HUB_ID --name {name} --server {socket} --token TOKEN"
    )


def _facts(bot: BotAnswer) -> Iterator[tuple[str, str]]:
    yield "name", escape(bot.name)
    yield "enabled", "yes" if bot.enabled else "[red]no[/]"
    for setting, value in bot.endpoint.items():
        if setting != "urls":
            yield setting, escape(str(value))
    yield "used by", escape(", ".join(bot.used_by)) or "no open run"
    yield "last check", _last_check(bot)
    late = bot.overruns
    yield "late replies", f"{late.overran} of {late.replies}"


def _replica_table(bot: BotAnswer) -> Table:
    where = Column("replica", no_wrap=True, overflow="fold")
    table = Table(where, "state", "in flight", "calls", "failures", "last error", box=SIMPLE)
    for each in bot.replicas:
        numbers = (str(each.in_flight), str(each.calls), str(each.failures))
        table.add_row(escape(each.url), _state(each.state), *numbers, escape(each.last_error or ""))
    return table


def _states(bot: BotAnswer) -> str:
    counts = Counter(each.state for each in bot.replicas)
    return ", ".join(f"{k} {_state(state)}" for state, k in counts.items()) or "none"


def _state(state: str) -> str:
    return escape(state) if state == "fine" else f"[red]{escape(state)}[/]"


def _last_check(bot: BotAnswer) -> str:
    if bot.check is None:
        return "never"
    return f"{coloured(bot.check.verdict)} {bot.check.at:%Y-%m-%d %H:%M}"


if __name__ == "__main__":
    cli()
