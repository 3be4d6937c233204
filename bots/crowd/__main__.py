"""The crowd's command line: `candor crowd --url … --workers 50`."""

import asyncio
import random
import re
from collections import Counter
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated
from urllib.parse import parse_qs, urlsplit

import typer
from rich.table import Table

from bots.crowd.crowd import CrowdOptions, hold_crowd
from bots.crowd.profile import (
    PROFILES,
    FittedRaterModel,
    ModelRefused,
    ProfileName,
    deal,
    mix_of,
    parse_mix,
    read_rater_model,
)
from bots.crowd.talk import Talk, TalkRefused, without_lines
from bots.crowd.worker import Diary
from bots.endpoints.hosted import Price
from bots.researcher_api import Data, NoAccess, RequestFailed, Token, access
from candor.common.terminal import Yes, console, fail

cli = typer.Typer(pretty_exceptions_enable=False, add_completion=False)


@cli.command()
def crowd(
    url: Annotated[str, typer.Option(help="The server, or a worker's link of one of its runs.")],
    workers: Annotated[int, typer.Option(min=1, max=10_000, help="How many simulated workers.")] = 50,
    mix: Annotated[
        str | None,
        typer.Option(
            help="Shares of honest, random, flat, careless and disguised workers.",
            show_default="honest=1, or as in the model",
        ),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Rate as the workers of a run did: a file of `candor plan workers RUN --model FILE`.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Random seed of the workers, their messages and ratings.")] = 1,
    run: Annotated[
        str | None, typer.Option(help="The run to take part in; default: the link's, or the only one.")
    ] = None,
    token: Token = None,
    data: Data = None,
    reply_pace: Annotated[
        float, typer.Option(min=0, max=1, help="Scales the study's natural reply times; 1 is as for people.")
    ] = 0.0,
    patience: Annotated[float, typer.Option(min=1, help="Seconds to wait for a server that is away.")] = 60.0,
    log: Annotated[
        Path | None, typer.Option(help="Write every acknowledged message to this file (JSON lines).")
    ] = None,
    talk: Annotated[
        str | None,
        typer.Option(
            metavar="KIND:MODEL",
            help="The model that writes the workers' messages: openai:MODEL at --talk-url, or hf:FOLDER.",
            show_default="retrieval from small talk",
        ),
    ] = None,
    talk_url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="openai: the model's address, up to /chat/completions."),
    ] = None,
    talk_key: Annotated[
        str | None,
        typer.Option(metavar="VARIABLE", help="openai: the environment variable that holds the key."),
    ] = None,
    price_in: Annotated[
        float, typer.Option(min=0, help="openai: the price of a million tokens that the model reads.")
    ] = 0.0,
    price_out: Annotated[
        float, typer.Option(min=0, help="openai: the price of a million tokens that the model writes.")
    ] = 0.0,
    yes: Yes = False,
    writing_pace: Annotated[
        float, typer.Option(min=0, max=1, help="Scales the time that workers take to write; 1 is as people.")
    ] = 0.0,
) -> None:
    """Let simulated workers take part in a run, over the same socket as people.

    Honest workers rate by the quality that the study's `simulate` section gives each system, with the bias
    and noise of real workers. Random workers set sliders anywhere, flat workers always to the same place.
    Careless workers write and rate with the least effort. Disguised workers imitate a language model in a
    worker's place: whole replies, pasted in an even rhythm, and ratings with little noise. With --model,
    honest workers rate like the people in a run, and systems of that run keep their scores.

    Workers answer the bot's lines with small talk, or with the model of --talk, which gets a persona and a
    topic. If the run's bots or that model may cost money, you are asked first; the question shows how many
    calls are planned, to whom, and at what price.

    Examples:

    candor crowd --url http://127.0.0.1:8000/w/pilot --workers 20 --mix honest=0.8,careless=0.2

    candor crowd --url http://127.0.0.1:8000/w/pilot --workers 5 --talk openai:MODEL
    --talk-url https://api.example.org/v1 --talk-key API_KEY --price-in 0.15 --price-out 0.6
    """
    known, shares = _raters(model, mix)
    dealt = deal(shares, workers, random.Random(f"{seed} deal"))
    base, linked_run = _split(url)
    price = Price(input=price_in, output=price_out) if price_in or price_out else None
    wanted = CrowdOptions(
        run=run or linked_run,
        dealt=dealt,
        model=known,
        seed=seed,
        reply_pace=reply_pace,
        writing_pace=writing_pace,
        patience=patience,
        talk=Talk(talk, talk_url, talk_key, price),
        yes=yes,
    )
    try:
        server = access(base, token, data)
        with log.open("a", encoding="utf-8") if log is not None else nullcontext() as file:
            diaries, seconds = asyncio.run(hold_crowd(server, wanted, file))
    except TalkRefused as error:
        fail(f"--talk: {error}")
    except (NoAccess, RequestFailed) as error:
        fail(str(error))
    except TimeoutError:
        fail(
            f"no answer from {base} within {patience:.0f} s.",
            "Start the server (`candor serve`), or say with --url where it is.",
        )
    except OSError as error:
        fail(f"--log {log}: {error.strerror}")
    _summarise(diaries, dealt, seconds, has_model=talk is not None)
    if any(diary.failure for diary in diaries):
        raise typer.Exit(1)


def _raters(model: Path | None, mix: str | None) -> tuple[FittedRaterModel | None, dict[ProfileName, float]]:
    """Return the rater model, if one was given, and the shares of workers."""
    try:
        known = None if model is None else read_rater_model(model)
        if mix is None and known is not None:
            return known, mix_of(known)
        return known, parse_mix(mix or "honest=1")
    except ModelRefused as error:
        fail(f"--model: {error}")
    except ValueError as error:
        fail(f"--mix: {error}")


def _summarise(diaries: list[Diary], dealt: list[ProfileName], seconds: float, *, has_model: bool) -> None:
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
    for language in sorted({diary.language for diary in diaries}):
        if not has_model and (note := without_lines(language)) is not None:
            console.print(note, highlight=False)
    for reason, k in Counter(d.failure for d in diaries if d.failure).items():
        console.print(f"[red]{k} failed:[/] {reason}")


def _split(url: str) -> tuple[str, str | None]:
    """Return the server's address, and the run's name if `url` is a worker's link."""
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.netloc:
        fail(f"--url {url}: not an address; write it like http://127.0.0.1:8000")
    if "worker" in parse_qs(parts.query, keep_blank_values=True):
        fail(
            f"--url {url}: simulated workers have names of their own.",
            "Leave out `?worker=…`: give the run's link without it.",
        )
    # A proxy may serve the server below a path: `/candor/w/RUN`.
    link = re.fullmatch(r"(.*?)/w/([^/]+)/?", parts.path)
    below, run = link.groups() if link else (parts.path.rstrip("/"), None)
    return f"{parts.scheme}://{parts.netloc}{below}", run


if __name__ == "__main__":
    cli()
