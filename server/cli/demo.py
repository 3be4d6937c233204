"""`candor demo`: try Candor without a study of your own."""

import typer

from candor.common.terminal import console, fail
from server.cli.database import transaction
from server.cli.prolific_demo import prolific
from server.cli.settings import Data, settings_from
from server.clock import utc_now
from server.db.audit import CommandLine, record
from server.db.runs.runs import find_opened, open_run
from server.errors import CandorError, RunNotFound
from server.items.pool import items_of
from server.study import DEMO_TRANSCRIPTS, load_study

TRANSCRIPTS = "demo-transcripts"

cli = typer.Typer(
    help="Try Candor before you have a study of your own.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)


@cli.callback()
def demo() -> None:
    """Group the commands that try Candor before you have a study."""


@cli.command()
def transcripts(data: Data = None) -> None:
    """Open a run in which workers rate conversations of the demo study.

    Conversations of simulated workers are enough. A running server serves the run within a second.
    """
    settings = settings_from(data=data)
    try:
        study, text = load_study(DEMO_TRANSCRIPTS)
        with transaction(settings) as connection:
            stands = find_opened(connection, text, TRANSCRIPTS)
            items = items_of(study, connection, DEMO_TRANSCRIPTS.parent) if stands is None else []
            entry = open_run(connection, text, TRANSCRIPTS, utc_now(), items)
            if stands is None:
                record(connection, CommandLine(), "run.open", TRANSCRIPTS)
    except RunNotFound as error:
        fail(error.message, "Start the server once (`candor serve`): it opens the run `demo`.")
    except CandorError as error:
        fail(error.message, error.hint)
    what = f"with {len(items)} conversations" if stands is None else "and was opened before"
    url = settings.resolved_public_url
    console.print(f"Run [bold]{entry.slug}[/] is open {what}: {url}/w/{entry.slug}", soft_wrap=True)
    console.print("Let simulated workers rate them:", soft_wrap=True)
    console.print(f"  candor crowd --url {url}/w/{entry.slug} --workers 60", soft_wrap=True)


cli.command()(prolific)
