"""`python -m qc.outlook SOURCE --run REHEARSAL`: print the forecast of a rehearsal as JSON.

The server runs this command at the end of a rehearsal (`candor rehearse`).
"""

import json
import sys
from dataclasses import asdict
from math import isfinite
from typing import Annotated, Any

import typer

from qc.command import RunName, SourceName, stderr_console
from qc.loading import load
from qc.planning.outlook import FEW_PASSED, POWER, PUBLISHED_INPUTS, PUBLISHED_MINUTES, Outlook, Plan, outlook
from qc.run import REHEARSAL_NOTE

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich")


@app.command(name="outlook")
def outlook_command(
    source: SourceName,
    workers: Annotated[int, typer.Option(min=2, help="Planned number of workers, one assignment each.")],
    conversations: Annotated[
        int, typer.Option(min=1, help="Conversations in one assignment, with the QC bot included.")
    ],
    inputs: Annotated[int, typer.Option(min=1, help="Minimum number of a worker's messages.")],
    run: RunName = None,
    pay: Annotated[float | None, typer.Option(min=0, help="What one assignment pays.")] = None,
    fee: Annotated[float, typer.Option(min=0, help="Share that the platform takes on top, as 0.33.")] = 0.0,
    alpha: Annotated[float, typer.Option(help="Level of the filter and of the comparison.")] = 0.05,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the resamples.")] = 0,
) -> None:
    """Forecast the results with this many workers, if people rate like the simulated workers."""
    with stderr_console():
        found = outlook(
            load(source, run, words=False), Plan(workers, conversations, inputs, pay, fee), alpha, seed
        )
    sys.stdout.write(json.dumps(_document(found)) + "\n")


def _document(found: Outlook) -> dict[str, Any]:
    document = asdict(found) | {"power": POWER, "assumed": _assumed(found)}
    plain: dict[str, Any] = _without_nan(document)
    return plain


def _assumed(found: Outlook) -> list[str]:
    said = [
        REHEARSAL_NOTE,
        f"People pass the filter as often as the simulated workers did, {found.passed} of {found.rehearsed}, "
        "and differ as much.",
        f"A conversation takes {PUBLISHED_MINUTES} minutes for {PUBLISHED_INPUTS} inputs, as in the "
        "published run, and with fewer or more inputs in proportion.",
        "The systems are as good as the simulated workers were told, which is what the study is to find out.",
    ]
    if found.passed < FEW_PASSED:
        said.append(
            f"Only {found.passed} simulated workers passed: the intervals are too narrow. Rehearse more."
        )
    if found.plan.pay is None:
        said.append("What an assignment pays is not said, so nothing is said of the cost.")
    return said


def _without_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nan(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(part) for part in value]
    return None if isinstance(value, float) and not isfinite(value) else value


if __name__ == "__main__":
    app(prog_name="python -m qc.outlook")
