"""`candor rehearse STUDY`: let simulated workers test a study on a server, and make a forecast."""

import time
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from bots.crowd.profile import ModelRefused, read_rater_model
from bots.researcher_api import (
    SERVER,
    Data,
    NoAccess,
    RehearsalAnswer,
    RequestFailed,
    ResearcherClient,
    Server,
    Token,
    access,
    confirmed,
)
from candor.common.api_models import Forecast
from candor.common.files import read_text
from candor.common.terminal import Yes, console, fail, stderr

_LOOK_SECONDS = 1.0
cli = typer.Typer(pretty_exceptions_enable=False, add_completion=False)


@cli.command()
def rehearse(
    study: Annotated[Path, typer.Argument(help="A study file (YAML).")],
    workers: Annotated[int, typer.Option(min=5, max=1000, help="How many simulated workers.")] = 40,
    planned: Annotated[
        int | None,
        typer.Option(
            min=2, help="People who will take part.", show_default="the study's slots, or --workers"
        ),
    ] = None,
    spread: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="Difference between the best and the worst system, from 0 to 1.",
            show_default="as the study's simulate section says, or 0.2",
        ),
    ] = None,
    honest: Annotated[
        float | None,
        typer.Option(
            min=0.1,
            max=1,
            help="Share of workers who do not guess.",
            show_default="0.75, or as in the model",
        ),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Rate as the workers of a run did: a file of `candor plan workers RUN --model FILE`.",
        ),
    ] = None,
    pay: Annotated[float | None, typer.Option(min=0, help="What one assignment pays.")] = None,
    fee: Annotated[
        float, typer.Option(min=0, help="Share that the platform takes on top, as 0.2 for 20 %.")
    ] = 0.0,
    seed: Annotated[int, typer.Option(min=0, help="Random seed of the workers and their ratings.")] = 1,
    yes: Yes = False,
    server: Server = SERVER,
    token: Token = None,
    data: Data = None,
) -> None:
    """Let simulated workers take part in the real study, in a separate run, and forecast people's results.

    The study's chatbots are called as if people took part. If the calls may cost money, you are asked first;
    the question shows how many calls are planned, to whom, and at what price. No report mixes the rehearsal
    with other data.
    """
    if fee > 1:
        fail(f"--fee is {fee:g}, but here it is a share", "Write 0.2 for 20 %.")
    options: dict[str, Any] = {"workers": workers, "fee": fee, "seed": seed}
    given = {"planned": planned, "spread": spread, "pay": pay, "honest": honest}
    options |= {name: value for name, value in given.items() if value is not None}
    try:
        if model is not None:
            options["model"] = read_rater_model(model).model_dump(mode="json")
        text = read_text(study)
        with ResearcherClient(access(server, token, data)) as client:
            over = _watched(client, confirmed(client.rehearse, text, options, yes=yes))
    except (OSError, UnicodeDecodeError) as error:
        fail(
            f"{study} cannot be read: {getattr(error, 'strerror', None) or error}",
            "It takes a file; `candor study show NAME > study.yaml` makes one of a stored study.",
        )
    except (NoAccess, RequestFailed, ModelRefused) as error:
        fail(str(error))
    if over.forecast is None:
        fail(f"the rehearsal {over.run} was {over.status}: {over.error or 'it was cancelled'}")
    if over.trouble is not None:
        stderr.print(f"[yellow]Some simulated workers did not finish:[/] {over.trouble}", soft_wrap=True)
    _tell(over.forecast)


def _watched(client: ResearcherClient, rehearsal: RehearsalAnswer) -> RehearsalAnswer:
    """Show the progress of a rehearsal until it is over, and return it then. Ctrl-C cancels it."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=stderr) as progress:
        bar = progress.add_task(rehearsal.run, total=None)
        try:
            while rehearsal.status == "running":
                time.sleep(_LOOK_SECONDS)
                rehearsal = client.rehearsal(rehearsal.run, rehearsal.job)
                shown = f"{rehearsal.run}: {rehearsal.step}"
                progress.update(bar, description=shown, completed=rehearsal.done, total=rehearsal.total)
        except KeyboardInterrupt:
            client.cancel(rehearsal.run, rehearsal.job)
            raise
    return rehearsal


def _tell(found: Forecast) -> None:
    table = Table("workers", "intervals", f"{found.first} and {found.second} told apart", "cost", box=None)
    for each in found.chances:
        cost = "" if each.cost is None else f"{each.cost:.2f}"
        table.add_row(str(each.workers), f"z ± {each.half_width:.2f}", f"{100 * each.apart:.0f} %", cost)
    console.print(table)
    needed = "more workers than the forecast covers" if found.needed is None else f"{found.needed} workers"
    console.print(f"For a chance of {100 * found.power:.0f} % it takes {needed}.")
    console.print(f"About {found.minutes:.0f} minutes for an assignment.")
    for sentence in found.assumed:
        console.print(f"- {sentence}", soft_wrap=True, highlight=False)


if __name__ == "__main__":
    cli()
