"""Time and peak memory of the report against the size of the run.

python benchmarks/qc_scale.py [--help]

The inputs are copies of the first published run, the workers and assignments of each renamed. Everything is
measured from outside: a process is started for each report, Python's own start-up included.
"""

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import matplotlib
import typer
from matplotlib.figure import Figure

REPOSITORY = Path(__file__).parents[1]
DATA = REPOSITORY / "tests" / "data"
RUN_1 = DATA / "published" / "free_run1" / "hits_data.json"
OUT = REPOSITORY / "docs" / "reference"

RENAMED = ("assignment", "worker", "conversation")
SMALL_SIZES = (1, 10)


@dataclass(frozen=True)
class Case:
    """One kind of report: its name, options and sizes."""

    name: str
    options: tuple[str, ...]
    sizes: tuple[int, ...]


@dataclass(frozen=True)
class Measured:
    """What one report took: wall time in seconds, peak of resident memory in GB."""

    case: Case
    size: int
    assignments: int
    seconds: float
    gigabytes: float


def cases(sizes: Sequence[int], bootstrap: int) -> list[Case]:
    resamples = ("--bootstrap", str(bootstrap))
    return [
        Case(
            "tables of the authors' scripts",
            ("--only", "significance,agreement", "--format", "csv"),
            SMALL_SIZES,
        ),
        Case("whole report", resamples, (1,)),
        Case(
            "everything but the HTML",
            (*resamples, "--format", "csv,json,xlsx,svg"),
            tuple(sizes),
        ),
    ]


def write_hits(source: Path, copies: int, target: Path) -> None:
    """Write `copies` of the hits_data.json at `source` as one."""
    content = json.loads(source.read_bytes())
    content["data"] = [
        {**held, "assignment": f"{copy:04}-{held['assignment']}", "worker": f"{copy:04}-{held['worker']}"}
        for copy in range(copies)
        for held in content["data"]
    ]
    target.write_text(json.dumps(content), encoding="utf-8")


def measure(case: Case, size: int, source: Path, out: Path) -> Measured:
    """Run the report once in a process of its own. Raises SystemExit with its message if it fails."""
    command = [sys.executable, "-m", "qc.report", str(source), "--out", str(out), *case.options]
    with tempfile.TemporaryFile() as said:
        started = time.perf_counter()
        process = subprocess.Popen(command, cwd=REPOSITORY, stdout=said, stderr=said)
        _, status, usage = os.wait4(process.pid, 0)  # tells the peak memory of this child alone
        seconds = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            said.seek(0)
            raise SystemExit(f"{' '.join(command)}\nended with {process.returncode}:\n{said.read().decode()}")
    gigabytes = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e9
    return Measured(case, size, _assignments(source, size), seconds, gigabytes)


def _assignments(source: Path, size: int) -> int:
    return source.read_bytes().count(b'"duration in seconds"')


def best(case: Case, size: int, source: Path, out: Path, repeat: int) -> Measured:
    """Return the fastest of `repeat` measurements: whatever else the machine does only adds to it."""
    return min((measure(case, size, source, out) for _ in range(repeat)), key=lambda one: one.seconds)


def machine() -> str:
    processor = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.is_file():
        models = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        processor = models[0].partition(":")[2].strip() if models else processor
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{cores} cores ({processor}), {platform.system()}, Python {platform.python_version()}"


def markdown(found: Sequence[Measured], bootstrap: int) -> str:
    rows = [
        f"| {one.case.name} | {one.size:,} | {one.assignments:,} | {one.seconds:.1f} | {one.gigabytes:.2f} |"
        for one in found
    ]
    lines = [
        "# Time and memory of the report",
        "",
        f"Measured by `benchmarks/qc_scale.py` on {machine()}; {bootstrap:,} bootstrap resamples. Inputs are "
        "hits_data.json files with copies of the first published run, workers and assignments of each "
        "renamed. Wall time is of the whole process, Python's start-up included; memory is its peak.",
        "",
        "| report | copies | assignments | seconds | GB |",
        "|---|---:|---:|---:|---:|",
        *rows,
        "",
        *growth(found),
        "![Time and peak memory against the number of assignments](qc-scale.svg)",
        "",
    ]
    return "\n".join(lines)


def growth(found: Sequence[Measured]) -> list[str]:
    """Return a sentence on the two largest sizes, with an empty line; nothing if there is only one."""
    large = sorted((one for one in found if len(one.case.sizes) > 2), key=lambda one: one.size)[-2:]
    if len(large) < 2:
        return []
    first, last = large
    return [
        f"From {first.size:,} to {last.size:,} copies, {last.size / first.size:g} times the data, the report "
        f"takes {last.seconds / first.seconds:.1f} times as long and {last.gigabytes / first.gigabytes:.1f} "
        "times the memory.",
        "",
    ]


def plot(found: Sequence[Measured]) -> Figure:
    figure = Figure(figsize=(9, 4), layout="constrained")
    axes = figure.subplots(1, 2)
    names = list(dict.fromkeys(one.case.name for one in found))
    for axis, quantity, label in zip(
        axes, ("seconds", "gigabytes"), ("seconds", "peak memory, GB"), strict=True
    ):
        for name, marker, colour in zip(names, "o^s", ("#0072b2", "#d55e00", "#009e73"), strict=False):
            points = [one for one in found if one.case.name == name]
            sizes = [one.assignments for one in points]
            axis.plot(
                sizes, [getattr(one, quantity) for one in points], marker=marker, color=colour, label=name
            )
        largest = max(found, key=lambda one: one.assignments)
        ends = [min(one.assignments for one in found), largest.assignments]
        top = getattr(largest, quantity)
        line = [top * end / largest.assignments for end in ends]
        axis.plot(ends, line, color="#777777", linestyle=":", label="slope 1: in proportion to the size")
        axis.set(xscale="log", yscale="log", xlabel="assignments", ylabel=label)
        axis.grid(visible=True, which="major", color="#dddddd")
        axis.spines[["top", "right"]].set_visible(False)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False, fontsize="small")
    return figure


def benchmark(
    source: Annotated[Path, typer.Option(help="The hits_data.json that is copied.")] = RUN_1,
    out: Annotated[Path, typer.Option(help="Directory for the table and the plot.")] = OUT,
    sizes: Annotated[
        str, typer.Option(help="Copies in the largest files, separated by commas.")
    ] = "1,10,100",
    bootstrap: Annotated[int, typer.Option(help="Bootstrap resamples.")] = 1000,
    repeat: Annotated[int, typer.Option(help="Measurements of each; the fastest counts.")] = 1,
) -> None:
    """Measure time and peak memory of the report on copies of a run; write a table and a plot."""
    found: list[Measured] = []
    with tempfile.TemporaryDirectory() as folder:
        for case in cases([int(size) for size in sizes.split(",")], bootstrap):
            for size in case.sizes:
                made = Path(folder) / f"copies{size}.json"
                if not made.exists():
                    write_hits(source, size, made)
                one = best(case, size, made, Path(folder) / "report", repeat)
                found.append(one)
                print(f"{case.name}, {size} copies: {one.seconds:.1f} s, {one.gigabytes:.2f} GB", flush=True)
    out.mkdir(parents=True, exist_ok=True)
    (out / "qc-scale.md").write_text(markdown(found, bootstrap), encoding="utf-8")
    matplotlib.rcParams["svg.hashsalt"] = "qc-scale"
    plot(found).savefig(out / "qc-scale.svg", metadata={"Date": None})
    print(f"written to {out}")


if __name__ == "__main__":
    typer.run(benchmark)
