"""Time of a report on the made-up votes of an arena: a process of its own, Python's start-up included.

python benchmarks/arena_scale.py [--votes 1000000] [--systems 100] [--voters 200000]
"""

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
import typer

from benchmarks.truth.arenas import Board, drawn_votes

REPOSITORY = Path(__file__).parents[1]


def main(votes: int = 1_000_000, systems: int = 100, voters: int = 200_000) -> None:
    """Print the seconds of a processor, and those that passed, of a report in all formats."""
    board = Board("made up", votes, voters, systems, spread=0.7, taste=0.7)
    drawn, _ = drawn_votes(board, np.random.default_rng(1))
    names = np.array(drawn.systems, object)
    winner = np.array(["model_b", "tie", "model_a"], object)
    rows = pd.DataFrame(
        {
            "model_a": names[drawn.first],
            "model_b": names[drawn.second],
            "winner": winner[drawn.outcome + 1],
            "judge": drawn.voter_names[drawn.voters],
        }
    )
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "votes.parquet"
        rows.to_parquet(source, index=False)
        command = [sys.executable, "-m", "qc.report", str(source), "--out", f"{folder}/report"]
        begun = time.perf_counter()
        subprocess.run(command, check=True, cwd=REPOSITORY, stdout=subprocess.DEVNULL)
        passed = time.perf_counter() - begun
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    typer.echo(f"{votes:,} votes of {voters:,} voters on {systems} systems")
    typer.echo(f"{used.ru_utime + used.ru_stime:.1f} s of a processor, {passed:.1f} s passed")


if __name__ == "__main__":
    typer.run(main)
