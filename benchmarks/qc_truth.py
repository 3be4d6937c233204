"""Does the analysis keep its word where the truth is known? Runs made up by design, analysed, and counted.

    python benchmarks/qc_truth.py [--runs 500] [--part second ...] [--design published ...] [--jobs 2]
    python benchmarks/qc_truth.py --summary

Each part is a table or several, each row a design (those of one run: `tests/qc/support/designs.py`). A run
is made up once, and counted for all tables of its part. In the columns stand shares of runs, systems, pairs
or tests, in per cent, and in brackets what they should be. The same number of runs gives the same tables,
however many processes share the work.

`--summary` runs nothing: it sums up the tables of docs/reference/coverage.md in one table of all statements.

Whoever adds a statistic adds what is counted of it to a part, in `benchmarks/truth`, and to its registry.
"""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import cache, partial
from itertools import repeat
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from benchmarks.truth import (
    adjusted,
    areas,
    arenas,
    at_random,
    belief,
    certificates,
    choices,
    context,
    few,
    groups,
    hostile,
    judges,
    judgments,
    means,
    one_run,
    planned,
    quizzes,
    references,
    single_tests,
    style,
    two_runs,
    uneven,
)
from benchmarks.truth.part import Count, Counted, Part, summed, table
from benchmarks.truth.summary import published, summary
from qc.command import progress

PARTS: dict[str, Part] = (
    one_run.PARTS
    | certificates.PARTS
    | arenas.PARTS
    | few.PARTS
    | uneven.PARTS
    | hostile.PARTS
    | means.PARTS
    | choices.PARTS
    | context.PARTS
    | belief.PARTS
    | two_runs.PARTS
    | groups.PARTS
    | planned.PARTS
    | at_random.PARTS
    | adjusted.PARTS
    | judgments.PARTS
    | style.PARTS
    | areas.PARTS
    | references.PARTS
    | judges.PARTS
    | quizzes.PARTS
    | single_tests.PARTS
)
COVERAGE = Path(__file__).parents[1] / "docs" / "reference" / "coverage.md"
# Runs that a process is given at a time.
CHUNK = 5
Runner = Callable[[str, str, int], Iterator[Mapping[str, Counted]]]


@cache
def _counting(part: str, design: str) -> Count:
    return PARTS[part].counting(design)


def _count(part: str, design: str, number: int) -> Mapping[str, Counted]:
    return _counting(part, design)(number)


@contextmanager
def _runner(jobs: int) -> Iterator[Runner]:
    """Yield what counts the runs 0, 1, … of a design, in their order."""
    if jobs == 1:
        yield lambda part, design, runs: map(partial(_count, part, design), range(runs))
        return
    with ProcessPoolExecutor(jobs) as pool:
        yield lambda part, design, runs: pool.map(
            _count, repeat(part, runs), repeat(design, runs), range(runs), chunksize=CHUNK
        )


def _chosen(kind: str, names: list[str] | None, known: list[str]) -> list[str]:
    unknown = sorted(set(names or ()) - set(known))
    if unknown:
        raise typer.BadParameter(f"No {kind} {', '.join(unknown)}. There are {', '.join(known)}.")
    return names or known


def main(
    runs: Annotated[int, typer.Option(min=1, help="Runs of each design.")] = 500,
    part: Annotated[list[str] | None, typer.Option(help="A part; all if none is given.")] = None,
    design: Annotated[list[str] | None, typer.Option(help="A design; all if none is given.")] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Processes.")] = 1,
    sum_up: Annotated[
        bool, typer.Option("--summary", help="Only sum up the tables of docs/reference/coverage.md.")
    ] = False,
) -> None:
    """Print how often the analysis is right, a row for each design."""
    if sum_up:
        print(summary(published(COVERAGE.read_text(encoding="utf-8"), PARTS)))
        return
    parts = _chosen("part", part, list(PARTS))
    known = list(dict.fromkeys(key for each in PARTS.values() for key in each.designs))
    designs = _chosen("design", design, known)
    keys = {name: [key for key in designs if key in PARTS[name].designs] for name in parts}
    total = sum(PARTS[name].runs(runs) * len(each) for name, each in keys.items())
    with progress(Console(stderr=True), total) as on_run, _runner(jobs) as counted:
        for name, each in keys.items():
            one = PARTS[name]
            made = one.runs(runs)
            rows = {
                one.designs[key]: summed(_told(counted(name, key, made), one.designs[key], on_run))
                for key in each
            }
            for title, columns in one.tables.items():
                if found := table(made, columns, rows):
                    print(f"\n{title}\n\n{found}", flush=True)


def _told(
    counts: Iterator[Mapping[str, Counted]], name: str, on_run: Callable[[str], None]
) -> Iterator[Mapping[str, Counted]]:
    for of_run in counts:
        on_run(name)
        yield of_run


if __name__ == "__main__":
    typer.run(main)
