"""Findings of several runs side by side, for people."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.comparison.several_runs import COEFFICIENTS, SeveralRuns
from qc.method.scores import places
from qc.options import AnalysisOptions
from qc.render.findings import Findings, FindingsFigure, FindingsTable
from qc.render.sentences import FEWEST_SYSTEMS
from qc.run import Run, source_name
from qc.sections import schema
from qc.signature import several_runs_signature
from qc.table import (
    COUNT,
    INTERVAL,
    SYSTEM_COLUMN,
    THREE,
    TWO,
    WRITTEN,
    Column,
    Table,
    between,
    decimal,
    listed,
    whole,
)

if TYPE_CHECKING:
    from qc.drawing.sheet import Drawing

METHOD = (
    "Each run is filtered and standardised for itself, as in a report of it alone, and its intervals are "
    "those of that report. Every two runs are compared on the systems and criteria that both have, as by "
    "--replicate (Ji et al., ACL 2022). The interval of r is Fisher’s (Metron 1, 1921), those of ρ and τ "
    "follow from it: they are over other systems like these."
)

_OF_A_RUN = {
    "^z .": schema.number("Overall z in the run of that name; null where it has none.", null=True),
    "^rank .": schema.integer(
        "Rank among the systems that all runs share; null for others. Absent if they share fewer than two.",
        null=True,
    ),
}
_COEFFICIENTS = {"pearson": "Pearson’s r", "spearman": "Spearman’s ρ", "kendall": "Kendall’s τ"}
# The JSON Schema of `runs.json`.
RUNS_SCHEMA = schema.record(
    "Several runs side by side. Each list has the rows of the CSV file of the same name, `runs_scores.csv` "
    "and so on; a number that does not exist is null.",
    command={"description": "Name of these results.", "const": "runs"},
    title=schema.text("How many runs."),
    signature=schema.text("What the numbers were made of and how, with a hash of each run’s data."),
    source=schema.text("Names of the files or databases that the runs were read from."),
    verdict=schema.array("A sentence for every two runs.", schema.text()),
    notes=schema.array("What a reader must know before quoting a number.", schema.text()),
    scores=schema.array(
        "Systems; those that every run has a score for come first, best first by the mean over the runs.",
        schema.record(system=schema.text("Name.")) | {"patternProperties": _OF_A_RUN},
    ),
    agreement=schema.rows(
        "Every two runs.",
        first=schema.text("Name of one."),
        second=schema.text("Name of the other."),
        systems=schema.integer("Systems that both have a score for."),
        **{
            f"{name}{end}": schema.number(f"{said}{coefficient}{more}", null=True)
            for name, coefficient in _COEFFICIENTS.items()
            for end, said, more in (
                ("", "", " of their overall z; null with fewer than 3 systems."),
                ("_low", "Lower end of the 95 % interval of ", ", over systems like these."),
                ("_high", "Upper end of the 95 % interval of ", ", over systems like these."),
            )
        },
        same_conclusions=schema.integer("Pairs of systems on which both conclude the same at p < 0.1."),
        pairs=schema.integer("Of how many."),
        shared_workers=schema.integer("Workers who took part in both."),
    ),
    runs=schema.rows(
        "The runs, in the order in which they were named.",
        run=schema.text("Name."),
        source=schema.text("Name of the file or database that it was read from."),
        workers=schema.integer("Workers."),
        passed=schema.integer("Workers who passed."),
        assignments=schema.integer("Assignments."),
        conversations=schema.integer("Conversations with systems."),
        kept=schema.integer("Those of workers who passed."),
        minutes=schema.number("Minutes per conversation, workers who passed.", null=True),
        **{
            opinion: schema.number(f"Per cent of opening topics: {opinion}, workers who passed.", null=True)
            for opinion in ("like", "ambivalent", "dislike")
        },
    ),
    intervals=schema.rows(
        "A row per system and run.",
        system=schema.text("Name."),
        run=schema.text("Name."),
        z=schema.number("Overall z.", null=True),
        low=schema.number("Lower end of its 95 % interval.", null=True),
        high=schema.number("Upper end.", null=True),
        raters=schema.integer("Workers who passed and rated it."),
    ),
)


def several_runs_findings(found: SeveralRuns, runs: Sequence[Run], options: AnalysisOptions) -> Findings:
    """Return runs side by side in tables, words and a figure; `runs` are the compared runs."""
    return Findings(
        command="runs",
        title=f"{whole(len(runs))} runs side by side",
        source=", ".join(source_name(run.source) for run in runs),
        verdict=_verdict(found),
        notes=(*_partly(found), *_few(found), *found.notes),
        tables=(_scores(found), _pairs(found), _runs(found), _intervals(found)),
        figures=(_figure(found),),
        method=METHOD,
        signature=several_runs_signature(
            runs, alpha=options.alpha, seed=options.seed, bootstrap=options.bootstrap
        ),
    )


def _verdict(found: SeveralRuns) -> tuple[str, ...]:
    sentences = []
    for row in found.pairs.to_dict("records"):
        if not row["systems"]:
            sentences.append(f"{row['first']} and {row['second']} have no system to compare.")
            continue
        of = f"of {whole(row['systems'])} {'system' if row['systems'] == 1 else 'systems'}"
        known = "have no correlation"
        if np.isfinite(row["pearson"]):
            ends = between(row["pearson_low"], row["pearson_high"])
            known = f"correlate at r = {decimal(row['pearson'])} (95 % interval {ends})"
        sentences.append(
            f"{row['first']} and {row['second']}: the overall scores {of} {known}, and for "
            f"{whole(row['same_conclusions'])} of {whole(row['pairs'])} pairs both draw the same conclusion."
        )
    return tuple(sentences)


def _partly(found: SeveralRuns) -> tuple[str, ...]:
    others = found.systems[found.shared :]
    if not others:
        return ()
    if not found.shared:
        return ("No system has a score in every run: each counts between those runs that have it.",)
    return (
        f"Not every run has a score for {listed(others)}: they stand below the "
        f"{whole(found.shared)} systems that all runs share, and count only between runs that have them.",
    )


def _few(found: SeveralRuns) -> list[str]:
    return [
        f"{row['first']} and {row['second']}: {whole(row['systems'])} "
        f"{'system is' if row['systems'] == 1 else 'systems are'} too few to tell from a correlation whether "
        "the runs agree."
        for row in found.pairs.to_dict("records")
        if 0 < row["systems"] < FEWEST_SYSTEMS
    ]


def _scores(found: SeveralRuns) -> FindingsTable:
    frame = pd.DataFrame({"system": list(found.systems)})
    columns = [SYSTEM_COLUMN]
    for number, name in enumerate(found.names):
        frame[f"z {name}"] = found.z[:, number]
        columns.append(Column(f"z {name}", f"z, {name}", THREE))
        if found.shared > 1:
            frame[f"rank {name}"] = _ranks(found, number)
            columns.append(Column(f"rank {name}", "Rank", COUNT))
    ranked = ", and the rank among the systems that all runs share" if found.shared > 1 else ""
    text = (
        f"Overall z as in each run’s own report{ranked}; best first by the mean over the runs. "
        "Workers are standardised over all that they rated in their run, so other systems in it move all z."
    )
    return FindingsTable("scores", "Scores", text, Table(frame, tuple(columns)))


def _ranks(found: SeveralRuns, number: int) -> NDArray[np.float64]:
    """Return ranks among the systems that all runs share; NaN for the others."""
    return places(np.where(np.arange(len(found.systems)) < found.shared, found.z[:, number], np.nan))


def _pairs(found: SeveralRuns) -> FindingsTable:
    heads = dict(zip(COEFFICIENTS, ("r", "ρ", "τ"), strict=True))
    columns = [Column("first", "Run"), Column("second", "Other run"), Column("systems", "Systems", COUNT)]
    for name, head in heads.items():
        columns += [
            Column(name, head, TWO),
            Column(f"{name}_low", "95 %", TWO, upper=f"{name}_high"),
        ]
    columns.append(Column("kept", "Same conclusion", WRITTEN))
    counts = zip(found.pairs["same_conclusions"].tolist(), found.pairs["pairs"].tolist(), strict=True)
    rows = found.pairs.assign(kept=[f"{whole(same)} of {whole(of)}" for same, of in counts])
    text = (
        "Pearson’s r, Spearman’s ρ and Kendall’s τ of the overall z of the systems that both runs have, with "
        "95 % intervals for systems like these; on how many pairs both conclude the same at p < 0.1."
    )
    table = Table(found.pairs, tuple(columns), rows)
    return FindingsTable("agreement", "How far every two runs agree", text, table)


def _runs(found: SeveralRuns) -> FindingsTable:
    columns = (
        Column("run", "Run"),
        Column("workers", "Workers", COUNT),
        Column("passed", "Passed", COUNT),
        Column("assignments", "Assign\u00adments", COUNT),
        Column("conversations", "Conver\u00adsations", COUNT),
        Column("kept", "Kept", COUNT),
        Column("minutes", "Minutes", TWO),
        Column("like", "Like %", TWO),
        Column("ambivalent", "Ambi\u00advalent %", TWO),
        Column("dislike", "Dislike %", TWO),
    )
    text = (
        "Minutes per conversation, and opinions of the opening topics, of the workers who passed; opinions "
        "count conversations with the quality-control bot, too."
    )
    return FindingsTable("runs", "The runs", text, Table(found.runs, columns))


def _intervals(found: SeveralRuns) -> FindingsTable:
    count = len(found.names)
    frame = pd.DataFrame(
        {
            "system": np.repeat(list(found.systems), count),
            "run": np.tile(list(found.names), len(found.systems)),
            "z": found.z.ravel(),
            "low": found.low.ravel(),
            "high": found.high.ravel(),
            "raters": found.raters.ravel(),
        }
    )
    columns = (
        SYSTEM_COLUMN,
        Column("run", "Run"),
        Column("z", "z", THREE),
        INTERVAL,
        Column("raters", "Raters", COUNT),
    )
    text = "A row per system and run, as drawn in the figure."
    return FindingsTable("intervals", "Scores with their intervals", text, Table(frame, columns), 0)


def _figure(found: SeveralRuns) -> FindingsFigure:
    def draw() -> "Drawing | None":
        from qc.render.figures import longitudinal  # noqa: PLC0415  # as other commands do

        return longitudinal(found)

    text = (
        "Runs from left to right in the order in which they were named; a vertical line is the 95 % interval "
        "of a score, a gap a run without the system."
    )
    return FindingsFigure("runs-scores", "Overall z from run to run.", text, draw)
