"""The crowd's command line: `candor crowd --url … --workers 50`."""

import asyncio
import json
import random
import time
import uuid
from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Annotated, TextIO
from urllib.parse import urlsplit

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from bots.corpus import load_corpus
from bots.crowd.patience import PatientClient
from bots.crowd.profile import PROFILES, Honest, Profile, ProfileName, deal, mix_of, parse_mix
from bots.crowd.rater_model import ModelRefused, RaterModel, read_rater_model
from bots.crowd.view import Message
from bots.crowd.worker import Diary, SimulatedWorker
from bots.researcher.access import Access, NoAccess, Token, access
from bots.researcher.client import RequestFailed, ResearcherClient
from bots.terminal import console, fail, stderr

cli = typer.Typer(pretty_exceptions_enable=False, add_completion=False)
_TOPICS = ("music", "cooking", "my dog", "the weather", "football", "books", "travelling", "work", "films")


@cli.command()
def crowd(
    url: Annotated[str, typer.Option(help="The server, or a worker's link of one of its runs.")],
    workers: Annotated[int, typer.Option(min=1, max=10_000, help="How many simulated workers.")] = 50,
    mix: Annotated[
        str | None,
        typer.Option(
            help="Shares of honest, random and flat raters.", show_default="honest=1, or as in the model"
        ),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Rate as the workers of a run did: a file of `candor plan RUN --model FILE`."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Fixes who is who, what they say and how they rate.")] = 1,
    run: Annotated[
        str | None, typer.Option(help="The run to take part in; default: the link's, or the only one.")
    ] = None,
    token: Token = None,
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
    With --model honest ones rate as people did in a run, and systems of that run deserve what they did there.
    """
    known, shares = _raters(model, mix)
    dealt = deal(shares, workers, random.Random(f"{seed} deal"))
    base, linked_run = _split(url)
    try:
        way_in = access(base, token)
        with log.open("a", encoding="utf-8") if log is not None else nullcontext() as file:
            diaries, seconds = asyncio.run(
                _crowd(way_in, run or linked_run, dealt, known, seed, reply_pace, patience, file)
            )
    except (NoAccess, RequestFailed) as error:
        fail(str(error))
    except TimeoutError:
        fail(f"no answer from {base} within {patience:.0f} s. Start it with `make run`, or check --url.")
    except OSError as error:
        fail(f"--log {log}: {error.strerror}")
    _summarise(diaries, dealt, seconds)
    if any(diary.failure for diary in diaries):
        raise typer.Exit(1)


def _raters(model: Path | None, mix: str | None) -> tuple[RaterModel | None, dict[ProfileName, float]]:
    """Return the model that is asked for, if one is, and the shares of workers."""
    try:
        known = None if model is None else read_rater_model(model)
        if mix is None and known is not None:
            return known, mix_of(known)
        return known, parse_mix(mix or "honest=1")
    except ModelRefused as error:
        fail(f"--model: {error}")
    except ValueError as error:
        fail(f"--mix: {error}")


def _profile(name: ProfileName, rng: random.Random, model: RaterModel | None) -> Profile:
    return Honest(rng, model) if name == "honest" else PROFILES[name](rng)


async def _crowd(
    way_in: Access,
    run: str | None,
    dealt: Sequence[ProfileName],
    model: RaterModel | None,
    seed: int,
    reply_pace: float,
    patience: float,
    log: TextIO | None,
) -> tuple[list[Diary], float]:
    """Let a worker of each profile in `dealt` take part in `run`; return their diaries, and the seconds."""
    corpus = load_corpus("builtin:smalltalk")
    lines = [turn for dialogue in corpus.dialogues for turn in dialogue.turns]
    batch = uuid.uuid4().hex[:8]

    def note(profile: ProfileName, assignment: str, message: Message) -> None:
        if log is not None:
            line = {"assignment": assignment, "profile": profile, "message": message}
            log.write(json.dumps(line) + "\n")
            log.flush()

    started = time.monotonic()
    with ResearcherClient(way_in) as client, PatientClient(client, patience) as patient:
        chosen = run or await _only_run(patient)
        crowd_ = [
            SimulatedWorker(
                name=f"{batch}-{i:04d}",
                profile=_profile(profile, random.Random(f"{seed} rate {i}"), model),
                rng=random.Random(f"{seed} act {i}"),
                lines=lines,
                topics=_TOPICS,
                client=patient,
                socket_url=f"{way_in.server.replace('http', 'ws', 1)}/ws",
                patience=patience,
                diary=Diary(partial(note, profile)),
            )
            for i, profile in enumerate(dealt)
        ]
        await _with_progress(crowd_, chosen, reply_pace)
    return [worker.diary for worker in crowd_], time.monotonic() - started


async def _only_run(client: PatientClient) -> str:
    found = await client.runs()
    if len(found) == 1:
        return found[0]
    raise RequestFailed(f"the server has several runs: choose one with --run ({', '.join(found)})")


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
        fail(f"--url {url}: not an address; write it like http://127.0.0.1:8000")
    path = parts.path.strip("/").split("/")
    run = path[1] if len(path) == 2 and path[0] == "w" else None
    return f"{parts.scheme}://{parts.netloc}", run


if __name__ == "__main__":
    cli()
