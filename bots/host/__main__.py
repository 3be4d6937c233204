"""The host's command line: `candor host hf:PATH --name NAME`."""

import asyncio
import os
import re
import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import typer
import uvicorn
from rich.markup import escape

from bots.core.chat import Bot
from bots.core.persona_prompt import PromptError, given_prompt, text_of
from bots.endpoints.address import EndpointError, Key, key_from
from bots.host.app import DrainingServer, Host, create_app
from bots.host.client import HostClient, HostConnector, HostRejected, RedisWorker
from bots.host.model import (
    LARGEST,
    WAIT_MS,
    BuiltinModel,
    DType,
    HfOptions,
    HostModelError,
    Layout,
    MicroBatch,
    Model,
    how_to_install,
)
from candor.common.network import in_url, listener
from candor.common.telemetry import start_tracing
from candor.common.terminal import console, fail, stderr

_KINDS = ("hf", "parlai", "builtin")
# Parameters of the command that are options of language models; their help texts begin with "hf:".
_OF_HF = (
    "max_new_tokens", "thinking", "thinking_tokens", "temperature", "top_p", "repetition_penalty", "prompt",
    "layout", "chat_template", "device", "dtype",
)  # fmt: skip
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
cli = typer.Typer(pretty_exceptions_enable=False, add_completion=False)


@cli.command()
def host(
    context: typer.Context,
    spec: Annotated[
        str | None,
        typer.Argument(help="The model: hf:FOLDER_OR_HUB_ID, parlai:MODEL_FILE or builtin:NAME."),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(help="The model's name in addresses.", show_default="the end of its spec"),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=SPEC", help="One more model in the same process; may be repeated."),
    ] = None,
    address: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0: any.")] = 8601,
    key_variable: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The environment variable with the key that callers must send.",
            show_default="no key",
        ),
    ] = None,
    server: Annotated[
        str | None,
        typer.Option(
            metavar="URL", help="Dial in to this server, as in wss://candor.example.org, and listen nowhere."
        ),
    ] = None,
    token: Annotated[
        str | None, typer.Option(envvar="CANDOR_TOKEN", help="For --server: a token for bot hosts.")
    ] = None,
    redis: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Take work from the servers' Redis, as in redis://:PASSWORD@HOST:6379/0, and listen "
            "nowhere; the password may be in the variable REDISCLI_AUTH instead.",
        ),
    ] = None,
    wait_ms: Annotated[
        float,
        typer.Option(min=0, max=1000, help="How long a request waits for others to share its batch."),
    ] = WAIT_MS,
    largest: Annotated[int, typer.Option(min=1, max=1024, help="Conversations in one batch.")] = LARGEST,
    corpus: Annotated[str, typer.Option(help="The corpus for builtin bots.")] = "builtin:smalltalk",
    max_new_tokens: Annotated[
        int, typer.Option(min=1, help="hf: tokens in a reply, at most.")
    ] = HfOptions().max_new_tokens,
    thinking: Annotated[
        bool | None,
        typer.Option(
            help="hf: let a model think before it replies, or prevent it, even if its "
            "template opens thoughts.",
            show_default="off if its template has a switch",
        ),
    ] = None,
    thinking_tokens: Annotated[
        int, typer.Option(min=1, help="hf: tokens of thoughts before a reply, at most.")
    ] = HfOptions().thinking_tokens,
    temperature: Annotated[
        float | None,
        typer.Option(min=0, help="hf: 0 is greedy.", show_default="the model's own settings, else 0"),
    ] = None,
    top_p: Annotated[
        float | None,
        typer.Option(min=0.01, max=1, help="hf: nucleus sampling.", show_default="the model's"),
    ] = None,
    repetition_penalty: Annotated[
        float | None,
        typer.Option(min=1, help="hf: above 1, a reply repeats fewer words.", show_default="the model's"),
    ] = None,
    prompt: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT|@FILE",
            help="hf: the model's instructions before a conversation. {persona} becomes the persona; "
            "without a persona, paragraphs with {persona} are left out.",
            show_default="a stranger in a casual chat",
        ),
    ] = None,
    layout: Annotated[
        Layout,
        typer.Option(
            help='hf: the format of a conversation: template, its chat template; plain, "A: …" and "B: …"; '
            "eos, an end-of-sequence token after every line, as DialoGPT was trained. auto: template if it "
            "has one, else plain."
        ),
    ] = "auto",
    chat_template: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="hf: a chat template (Jinja) that replaces the model's own."),
    ] = None,
    device: Annotated[
        str | None,
        typer.Option(
            help="hf: cpu, cuda, cuda:1 …; auto: spread over all GPUs.",
            show_default="cuda where there is one",
        ),
    ] = None,
    dtype: Annotated[
        DType,
        typer.Option(
            help="hf: precision; auto: as saved on cuda, float32 on a cpu; float64 is reproducible."
        ),
    ] = "auto",
) -> None:
    """Host models for a study: answer many conversations at once, in micro-batches.

    Each model answers at POST /NAME/reply and reports its state at GET /NAME/health; GET / lists them.

    With --server the host connects to a Candor server instead, registers its models there by their names,
    and needs no open port. Hosts that register the same name share the work.

    With --redis the host connects only to the servers' Redis. It answers for the bots with its models'
    names that are registered on the servers (`candor bots add NAME --kind dial-in`), and shares the work
    with all other hosts of these bots.

    SIGTERM or Ctrl-C finishes the replies under way and then ends; a second one ends at once.

    Examples:

    candor host hf:models/my-bot --name mine

    candor host --model mine=hf:models/my-bot --model tfidf=builtin:retrieval --port 8602

    candor host hf:models/my-bot --name mine --server wss://candor.example.org --token TOKEN

    candor host hf:models/my-bot --name mine --redis redis://redis.internal:6379/0
    """
    specs = _specs(spec, name, model or [])
    _require_hf(specs, _of_language_models(context))
    try:
        instructions = None if prompt is None else given_prompt(prompt)
        template = None if chat_template is None else text_of(chat_template)
    except PromptError as error:
        fail(str(error))
    options = HfOptions(
        max_new_tokens,
        temperature,
        top_p,
        repetition_penalty,
        instructions,
        device,
        dtype,
        thinking,
        thinking_tokens,
        layout,
        template,
    )
    hosted = Host(specs)
    loading = _Loading(
        hosted, specs, lambda wanted: MicroBatch(_open(wanted, corpus, options), wait_ms, largest)
    )
    if server is not None and redis is not None:
        fail("--server and --redis cannot be used together: give one of them")
    end_tracing = start_tracing()
    if server is not None:
        _dial_in(hosted, loading, server, token)
    elif redis is not None:
        password = os.environ.get("REDISCLI_AUTH")
        # One batch is computed while the next one gathers.
        _work(loading, lambda: RedisWorker(hosted, redis, password, 2 * largest, _say))
    else:
        _serve(hosted, loading, address, port, _key(key_variable))
    end_tracing()
    if loading.failure is not None:
        fail(loading.failure)


@dataclass(slots=True)
class _Loading:
    """Loads models in a daemon thread, for which Ctrl-C need not wait; `failure` is the error message."""

    hosted: Host
    specs: dict[str, str]
    load: Callable[[str], Bot]
    failure: str | None = None

    def start(self, ready: Callable[[str], None], failed: Callable[[], None]) -> None:
        """Load the models one after the other; call `ready` for each, or `failed` once, and then stop."""
        threading.Thread(target=self._load_all, args=(ready, failed), name="loading", daemon=True).start()

    def _load_all(self, ready: Callable[[str], None], failed: Callable[[], None]) -> None:
        for name, wanted in self.specs.items():
            stderr.print(f"Loading {name} ({escape(wanted)}) …")
            try:
                self.hosted.put(name, self.load(wanted))
            except Exception as error:  # the process must not stay, waiting for a model that never comes
                known = isinstance(error, HostModelError)
                self.failure = str(error) if known else f"{wanted}: {error!r}"
                failed()
                return
            ready(name)


def _serve(hosted: Host, loading: _Loading, address: str, port: int, key: Key | None) -> None:
    """Answer over HTTP until told to stop."""
    try:
        listening = listener(address, port)
    except OSError as error:
        where = in_url(address, port)
        fail(f"cannot listen on {where}: {error.strerror}. Choose another --port or --host.")
    app = create_app(hosted, key)
    config = uvicorn.Config(app, log_level="warning", access_log=False, timeout_graceful_shutdown=5)
    server = DrainingServer(config, hosted)
    at = f"http://{in_url(address, listening.getsockname()[1])}"
    console.print(f"Listening on {at}")

    def stop() -> None:
        server.should_exit = True

    loading.start(lambda name: console.print(f"Ready: {at}/{name}"), stop)
    asyncio.run(server.serve(sockets=[listening]))


def _dial_in(hosted: Host, loading: _Loading, server: str, token: str | None) -> None:
    """Connect to a server and answer its asks, until told to stop."""
    if token is None:
        fail(
            "--server needs a token: make one there with `candor token new --name NAME --for host`,"
            " and pass it as --token"
        )

    _work(loading, lambda: HostConnector(hosted, server, token, _say))


def _work(loading: _Loading, connect: Callable[[], HostClient]) -> None:
    """Answer asks over a connection until told to stop. `connect` opens it, in the event loop."""

    async def run() -> None:
        connection = connect()
        for each in (signal.SIGTERM, signal.SIGINT):
            signal.signal(each, lambda *_: connection.drain())
        loading.start(lambda _: connection.changed(), connection.stop)
        await connection.run()

    try:
        asyncio.run(run())
    except (ValueError, HostRejected) as error:
        fail(str(error))


def _say(line: str) -> None:
    console.print(escape(line), soft_wrap=True)


def _key(variable: str | None) -> Key | None:
    try:
        return None if variable is None else key_from(variable)
    except EndpointError as error:
        fail(f"--key-variable: {error}")


def _open(spec: str, corpus: str, options: HfOptions) -> Model:
    """Load the model that `spec` names. Raises HostModelError."""
    kind, _, rest = spec.partition(":")
    if kind == "builtin":
        return BuiltinModel(rest, corpus)
    try:
        if kind == "hf":
            from bots.host.hf import HfModel  # noqa: PLC0415 - heavy, and not installed everywhere

            return HfModel(rest, options)
        from bots.host.parlai import ParlaiModel  # noqa: PLC0415 - as above

        return ParlaiModel(rest)
    except ImportError as error:
        raise HostModelError(
            f"{spec}: {error}. Install the packages that such models need: {how_to_install(kind)}"
        ) from error


def _specs(spec: str | None, name: str | None, more: list[str]) -> dict[str, str]:
    """Return the specs by name, in the order given."""
    named: list[tuple[str, str]] = []
    if spec is not None:
        named.append((name or _name_of(spec), spec))
    elif name is not None:
        fail("--name needs a model: candor host SPEC --name NAME")
    for each in more:
        before, equals, after = each.partition("=")
        if not equals:
            fail(f"--model {each}: write NAME=SPEC, as in --model mine=hf:models/my-bot")
        named.append((before, after))
    if not named:
        fail("no model: give one, as in `candor host hf:models/my-bot`, or see --help")
    for called, wanted in named:
        kind, _, rest = wanted.partition(":")
        if kind not in _KINDS or not rest:
            fail(f'"{wanted}" is not a model: write hf:FOLDER_OR_HUB_ID, parlai:MODEL_FILE or builtin:NAME')
        if not _NAME.fullmatch(called):
            fail(f'"{called}" is not a valid name: use lowercase letters, digits, "-" and "_"')
    names = [called for called, _ in named]
    twice = next((called for called in names if names.count(called) > 1), None)
    if twice is not None:
        fail(f'two models are called "{twice}": give each a name of its own')
    return dict(named)


def _of_language_models(context: typer.Context) -> list[str]:
    """Return the given options that only language models have."""
    sources = {name: context.get_parameter_source(name) for name in _OF_HF}
    return [
        f"--{name.replace('_', '-')}"
        for name, source in sources.items()
        if source is not None and source.name == "COMMANDLINE"
    ]


def _require_hf(specs: dict[str, str], options: list[str]) -> None:
    """Refuse options that no model here accepts, and a prompt that one of the models does not accept."""
    others = [wanted for wanted in specs.values() if not wanted.startswith("hf:")]
    if len(others) < len(specs):
        options = [option for option in options if option == "--prompt"]
    if not (options and others):
        return
    which, are = ", ".join(options), "is" if len(options) == 1 else "are"
    remedy = "leave that out" if len(others) == len(specs) else "host it in a process of its own"
    fail(f"{which} {are} for language models, and {others[0]} takes none: {remedy}")


def _name_of(spec: str) -> str:
    """Return a default name for a model: the end of its spec, reduced to the characters of names."""
    end = re.split(r"[/:\\]", spec.rstrip("/\\"))[-1].lower()
    return re.sub(r"[^a-z0-9_-]+", "-", end).strip("-_")[:64]


if __name__ == "__main__":
    cli()
