"""The crowd's command line: `python -m bots.crowd --url … --workers 50`."""

import asyncio
import json
import random
import time
import uuid
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, NoReturn, TextIO
from urllib.parse import urlsplit

import httpx2
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from bots.corpus import load_corpus
from bots.crowd.desk import Desk, Refused
from bots.crowd.profile import PROFILES, ProfileName, deal, parse_mix
from bots.crowd.view import Message
from bots.crowd.worker import Diary, SimulatedWorker

console = Console(highlight=False)
stderr = Console(stderr=True, highlight=False)
_SECRETS = Path("candor-data/secrets.json")
_TOPICS = ("music", "cooking", "my dog", "the weather", "football", "books", "travelling", "work", "films")


@dataclass(frozen=True, slots=True)
class Options:
    """What was asked for."""

    base: str
    run: str | None
    token: str
    workers: int
    shares: dict[ProfileName, float]
    seed: int
    reply_pace: float
    patience: float


def crowd(
    url: Annotated[str, typer.Option(help="The server, or a worker's link of one of its runs.")],
    workers: Annotated[int, typer.Option(min=1, max=10_000, help="How many simulated workers.")] = 50,
    mix: Annotated[str, typer.Option(help="Shares of honest, random and flat raters.")] = "honest=1",
    seed: Annotated[int, typer.Option(help="Fixes who is who, what they say and how they rate.")] = 1,
    run: Annotated[
        str | None, typer.Option(help="The run to take part in; default: the link's, or the only one.")
    ] = None,
    token: Annotated[
        str | None,
        typer.Option(envvar="CANDOR_TOKEN", help="The researcher's token; default: this folder's server's."),
    ] = None,
    reply_pace: Annotated[
        float, typer.Option(min=0, max=1, help="Scales the study's natural reply times; 1 is as for people.")
    ] = 0.0,
    patience: Annotated[float, typer.Option(min=1, help="Seconds to wait for a server that is away.")] = 60.0,
    log: Annotated[
        Path | None, typer.Option(help="Write every acknowledged message to this file (JSON lines).")
    ] = None,
) -> None:
    """Let simulated workers take part in a run, over the same socket as people.

    Honest ones rate by the quality that the study's `simulate` section gives each system, with the bias
    and noise of real workers; random ones set sliders anywhere; flat ones always to the same place.
    """
    try:
        shares = parse_mix(mix)
    except ValueError as error:
        _fail(f"--mix: {error}")
    base, linked_run = _split(url)
    options = Options(
        base, run or linked_run, token or _own_token(), workers, shares, seed, reply_pace, patience
    )
    try:
        with ExitStack() as stack:
            file = stack.enter_context(log.open("a", encoding="utf-8")) if log is not None else None
            diaries, dealt, seconds = asyncio.run(_crowd(options, file))
    except Refused as error:
        _fail(str(error))
    except TimeoutError:
        _fail(f"no answer from {base} within {patience:.0f} s. Start it with `make run`, or check --url.")
    except OSError as error:
        _fail(f"--log {log}: {error.strerror}")
    _summarise(diaries, dealt, seconds)
    if any(diary.failure for diary in diaries):
        raise typer.Exit(1)


async def _crowd(options: Options, log: TextIO | None) -> tuple[list[Diary], list[ProfileName], float]:
    corpus = load_corpus("builtin:smalltalk")
    lines = [turn for dialogue in corpus.dialogues for turn in dialogue.turns]
    dealt = deal(options.shares, options.workers, random.Random(f"{options.seed} deal"))
    batch = uuid.uuid4().hex[:8]

    def note(profile: ProfileName, assignment: str, message: Message) -> None:
        if log is not None:
            line = {"assignment": assignment, "profile": profile, "message": message}
            log.write(json.dumps(line) + "\n")
            log.flush()

    headers = {"Authorization": f"Bearer {options.token}"}
    limits = httpx2.Limits(max_connections=20)
    started = time.monotonic()
    async with httpx2.AsyncClient(
        base_url=options.base, headers=headers, limits=limits, timeout=30
    ) as client:
        desk = Desk(client, options.patience)
        chosen = options.run or await _only_run(desk)
        crowd_ = [
            SimulatedWorker(
                name=f"{batch}-{i:04d}",
                profile=PROFILES[profile](random.Random(f"{options.seed} rate {i}")),
                rng=random.Random(f"{options.seed} act {i}"),
                lines=lines,
                topics=_TOPICS,
                desk=desk,
                socket_url=f"{options.base.replace('http', 'ws', 1)}/ws",
                patience=options.patience,
                diary=Diary(partial(note, profile)),
            )
            for i, profile in enumerate(dealt)
        ]
        await _with_progress(crowd_, chosen, options.reply_pace)
    return [worker.diary for worker in crowd_], dealt, time.monotonic() - started


async def _only_run(desk: Desk) -> str:
    found = await desk.runs()
    if len(found) == 1:
        return found[0]
    raise Refused(f"the server has several runs: choose one with --run ({', '.join(found)})")


async def _with_progress(workers: list[SimulatedWorker], run: str, reply_pace: float) -> None:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=stderr) as progress:
        bar = progress.add_task(f"{run}: workers", total=len(workers))

        async def one(worker: SimulatedWorker) -> None:
            await worker.run(run, reply_pace)
            progress.advance(bar)

        await asyncio.gather(*(one(worker) for worker in workers))


def _summarise(diaries: list[Diary], dealt: list[ProfileName], seconds: float) -> None:
    table = Table("workers", "finished", "failed", "conversations", "inputs", "reconnects")
    for name in PROFILES:
        mine = [diary for diary, profile in zip(diaries, dealt, strict=True) if profile == name]
        if mine:
            failed = sum(diary.failure is not None for diary in mine)
            table.add_row(
                name,
                str(len(mine) - failed),
                str(failed),
                str(sum(d.conversations for d in mine)),
                str(sum(d.inputs for d in mine)),
                str(sum(d.reconnects for d in mine)),
            )
    console.print(table)
    console.print(f"{len(diaries)} workers in {seconds:.1f} s")
    for reason, k in Counter(d.failure for d in diaries if d.failure).items():
        console.print(f"[red]{k} failed:[/] {reason}")


def _split(url: str) -> tuple[str, str | None]:
    """Return the server's address, and the run where `url` is a worker's link."""
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.netloc:
        _fail(f"--url {url}: not an address; write it like http://127.0.0.1:8000")
    path = parts.path.strip("/").split("/")
    run = path[1] if len(path) == 2 and path[0] == "w" else None
    return f"{parts.scheme}://{parts.netloc}", run


def _own_token() -> str:
    try:
        return str(json.loads(_SECRETS.read_text())["researcher_token"])
    except (OSError, ValueError, KeyError):
        _fail("the researcher's token is needed: pass --token, the end of the link that the server printed.")


def _fail(reason: str) -> NoReturn:
    stderr.print(f"[red]Error:[/] {reason}", soft_wrap=True)
    raise typer.Exit(2)


def main() -> None:
    """Run the command line."""
    typer.run(crowd)


if __name__ == "__main__":
    main()
