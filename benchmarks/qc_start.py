"""Processor time of a report's commands, beside that of importing pandas and scipy.stats alone.

python benchmarks/qc_start.py [--times 3]

Each command is a process of its own; of all its runs the least counts, because whatever else the machine does
only adds. The input is the first published run.
"""

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import typer

REPOSITORY = Path(__file__).parents[1]
DATA = REPOSITORY / "tests" / "data"
RUN_1 = str(DATA / "published" / "free_run1" / "hits_data.json")
BARE = "import pandas, scipy.stats"


def main(times: int = 3) -> None:
    """Print the seconds of each command, and how many times those of the imports they are."""
    with tempfile.TemporaryDirectory() as folder:
        report = ["-m", "qc.report"]
        commands = {
            "imports of pandas and scipy.stats": ["-c", BARE],
            "report --help": [*report, "--help"],
            "report --out DIR --format json": [*report, RUN_1, "--out", f"{folder}/json", "--format", "json"],
            "report (terminal only)": [*report, RUN_1],
            "report --out DIR": [*report, RUN_1, "--out", f"{folder}/all"],
        }
        # In turns, so that a busy minute of the machine meets all of them.
        found = [{name: _seconds(command) for name, command in commands.items()} for _ in range(times)]
    least = {name: min(each[name] for each in found) for name in commands}
    bare = least["imports of pandas and scipy.stats"]
    for name, seconds in least.items():
        typer.echo(f"{name:36} {seconds:6.2f} s {seconds / bare:6.2f}")


def _seconds(command: list[str]) -> float:
    """Return the processor time, user and system, of a Python process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *command], check=True, cwd=REPOSITORY, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


if __name__ == "__main__":
    typer.run(main)
