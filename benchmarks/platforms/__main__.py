"""Measure messages a second, waits and losses of a chat platform at people's pace.

python -m benchmarks.platforms candor [--connections 200] [--pause 10] [--seconds 60] [--out result.json]
python -m benchmarks.platforms slurk --home FOLDER

Participants exchange messages with a bot or with each other, and think between them. Then the server is
killed, and each message that it had acknowledged is looked for in its own store.
docs/explanation/platforms.md has how to install each platform, what is measured and what not.
"""

import asyncio
import json
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.platforms.candor_server import CandorServer
from benchmarks.platforms.load import Load, measure
from benchmarks.platforms.potato_chat import Potato
from benchmarks.platforms.slurk import Slurk

PLATFORMS = {"candor": CandorServer, "slurk": Slurk, "potato": Potato}


def main(
    platform: Annotated[str, typer.Argument(help=f"One of {', '.join(PLATFORMS)}.")],
    home: Annotated[
        Path | None, typer.Option(help="Where the platform is installed; not for candor.")
    ] = None,
    connections: Annotated[int, typer.Option(min=1, help="Participants at a time.")] = 200,
    pause: Annotated[float, typer.Option(min=0, help="Median seconds before each message.")] = 10.0,
    seconds: Annotated[float, typer.Option(min=1, help="How long to measure.")] = 60.0,
    seed: Annotated[int, typer.Option(help="Of the pauses.")] = 1,
    out: Annotated[Path | None, typer.Option(help="Write the result here, too.")] = None,
) -> None:
    """Measure a chat platform at people's pace, and what it loses when it is killed."""
    if platform not in PLATFORMS:
        raise typer.BadParameter(f"Choose one of {', '.join(PLATFORMS)}.")
    with tempfile.TemporaryDirectory() as folder:
        target = PLATFORMS[platform](Path(folder), home)
        result = asyncio.run(measure(target, Load(connections, pause, seconds, seed)))
    text = json.dumps({"platform": platform, **result}, indent=2)
    if out:
        out.write_text(f"{text}\n")
    print(text)


if __name__ == "__main__":
    typer.run(main)
