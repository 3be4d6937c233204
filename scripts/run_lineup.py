"""The paper's experiment in miniature, from nothing to a study that is served: `make run-lineup`.

Trains the five architectures (once), starts a bot host with them, waits until it has loaded them all, opens
their study and serves it. Whatever it has started ends with it.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import httpx2
import typer
from rich.console import Console

MODELS = ("biencoder", "polyencoder", "kvmemnn", "seq2seq", "lan_model")
_PATIENCE = 60.0  # seconds that a process has to end after it was asked to
stderr = Console(stderr=True, highlight=False)


def run_lineup(
    models: Annotated[Path, typer.Option(help="Folder of the models, the study file and the data.")] = Path(
        "models"
    ),
    corpus: Annotated[str, typer.Option(help="What they learn from.")] = "builtin:smalltalk",
    epochs: Annotated[
        float | None, typer.Option(min=0.01, help="Epochs for every model; default: each its own.")
    ] = None,
    run: Annotated[str, typer.Option(help="The run's name, part of the worker's link.")] = "lineup",
    port: Annotated[int, typer.Option(help="Where the server listens.")] = 8000,
    bot_port: Annotated[int, typer.Option(help="Where the bot host listens.")] = 8601,
    despite_failing_bots: Annotated[
        bool, typer.Option("--despite-failing-bots", help="Open the run even if models failed their check.")
    ] = False,
) -> None:
    """Train the paper's line-up (minutes, once), host it, open its study and serve it; Ctrl-C ends it all.

    Started again it trains nothing again, and goes on with the same run.
    """
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.default_int_handler)
    host, data = f"http://127.0.0.1:{bot_port}", ["--data", str(models / "data")]
    os.environ["CANDOR_PORT"] = str(port)
    os.environ.setdefault("CANDOR_EXEMPT_ADDRESSES", json.dumps(["127.0.0.1"]))
    train = ["--corpus", corpus, "--out", str(models), "--host", host]
    train += ["--epochs", str(epochs)] if epochs else []
    hosted = [f"--model={name}=parlai:{models / name / 'model'}" for name in MODELS]
    try:
        finish("bots.train_lineup", *train)
        with started("bots.host", "--port", str(bot_port), *hosted) as bots:
            wait_until_loaded(host, bots)
            force = ["--despite-failing-bots"] if despite_failing_bots else []
            finish("server", "study", "open", str(models / "lineup.yaml"), "--run", run, *data, *force)
            with started("server", "serve", *data) as server:
                wait_for_either(server, bots)
    except KeyboardInterrupt:
        raise typer.Exit(130) from None


def finish(*command: str) -> None:
    """Run a command of ours to its end; end with it where it fails."""
    with started(*command) as process:
        if code := process.wait():
            raise typer.Exit(code)


@contextmanager
def started(*command: str) -> Iterator[subprocess.Popen[bytes]]:
    """Yield a process of ours that ends when the block does.

    It is in a session of its own, so that Ctrl-C ends the server first and its bots afterwards.
    """
    process = subprocess.Popen([sys.executable, "-m", *command], start_new_session=True)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(_PATIENCE)
        except (KeyboardInterrupt, subprocess.TimeoutExpired):
            process.kill()
            process.wait()


def wait_until_loaded(url: str, host: subprocess.Popen[bytes]) -> None:
    """Wait until every model of the host at `url` answers; end where the host has ended."""
    while host.poll() is None:
        try:
            listed = httpx2.get(url, trust_env=False).json()["models"]
            if all(model["ready"] for model in listed):
                return
        except httpx2.TransportError:
            pass  # it does not listen yet
        time.sleep(0.2)
    raise typer.Exit(host.returncode)


def wait_for_either(server: subprocess.Popen[bytes], bots: subprocess.Popen[bytes]) -> None:
    """Wait until the server or the bot host has ended, and end with its exit status."""
    while server.poll() is None and bots.poll() is None:
        time.sleep(0.2)
    if bots.returncode is not None:
        stderr.print("[red]The bot host has ended[/], so the server ends, too. See above for the reason.")
    raise typer.Exit(server.returncode or bots.returncode or 0)


if __name__ == "__main__":
    typer.run(run_lineup)
