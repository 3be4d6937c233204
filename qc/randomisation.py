"""Test systems and raters by approximate randomisation: `candor plan randomisation SOURCE`."""

from importlib.metadata import version
from typing import TYPE_CHECKING, Annotated

import numpy as np
import pandas as pd
import typer

from qc.command import ALL, RunName, Where, progress, stderr_console, where_in
from qc.estimators.randomisation import DRAWS
from qc.judgments import Selection, read_judgments
from qc.planning.opinion import opinion
from qc.planning.randomisation_analysis import (
    STEPS,
    RandomisationAnalysis,
    RandomisationOptions,
    RandomisedPairs,
    Within,
    analyse_randomisation,
)
from qc.render.figures import one_against_average
from qc.render.findings import (
    Criterion,
    Findings,
    FindingsFigure,
    FindingsTable,
    Formats,
    Out,
    PerWorkerZ,
    tell,
    wanted_formats,
    write_all,
)
from qc.table import COUNT, SIGNIFICANT, SYSTEM_COLUMN, THREE, Column, P, Table, decimal, listed, whole

if TYPE_CHECKING:
    from qc.drawing.sheet import Drawing

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich")


@app.command(
    epilog="Every two systems, within workers: candor plan randomisation judgments.csv\n\n"
    "Two pools of raters: candor plan randomisation experts.csv --other crowd.csv --out agreement"
)
def randomisation(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            help="Judgments: a CSV with columns item, system, worker, value (and criterion, position), or a "
            "run as `candor report` reads it.",
        ),
    ],
    within: Annotated[
        Within | None,
        typer.Option(
            help="Exchange scores of two systems within the same worker or item. Default: worker, or item if "
            "the source does not say who judged.",
        ),
    ] = None,
    other: Annotated[
        str | None,
        typer.Option(metavar="SOURCE2", help="Judgments of the same systems by another pool of raters."),
    ] = None,
    criterion: Criterion = None,
    where: Where = None,
    z: PerWorkerZ = False,
    run: RunName = None,
    draws: Annotated[
        int, typer.Option(metavar="N", help="Exchanges to draw, if there are too many to try all.")
    ] = DRAWS,
    seed: Annotated[int, typer.Option(help="Seed of the draws.")] = 0,
    out: Out = None,
    formats: Formats = ALL,
) -> None:
    """Test each pair of systems by approximate randomisation, and compare single raters with averages."""
    with stderr_console() as stderr:
        options = RandomisationOptions(within, draws, seed)
        wanted = wanted_formats(formats, out)
        read = read_judgments(source, Selection(run=run, where=where_in(where)))
        people = opinion(read, criterion, z=z)
        second = None if other is None else read_judgments(other, Selection(where=where_in(where)))
        others = None if second is None else opinion(second, criterion, z=z)
        with progress(stderr, STEPS) as on_step:
            analysis = analyse_randomisation(people, options, others, on_step)
        found = randomisation_findings(analysis, read.source, second.source if second else None)
        files = write_all(found, out, wanted, stderr)
    tell(found, out, files)


SHOWN_PAIRS = 50
QUANTILES = {"lowest": 0.0, "q25": 0.25, "median": 0.5, "q75": 0.75, "highest": 1.0}
UNITS = {Within.WORKER: "worker", Within.ITEM: "item", Within.BOTH: "worker and item"}
METHOD = (
    "Approximate randomisation (Noreen, Computer-Intensive Methods for Testing Hypotheses, 1989) within "
    "units; one against average and the repeated Latin square as in Belz and Reiter, Comparing automatic "
    "and human evaluation of NLG systems, EACL 2006. A rater is never part of the average that he or she "
    "is compared with."
)


def randomisation_findings(found: RandomisationAnalysis, source: str, other: str | None) -> Findings:
    """Return an analysis in tables, figures and words; `source` and `other` are the sources of the data."""
    tables = [_pairs(found.pairs)]
    figures: list[FindingsFigure] = []
    if found.pools:
        tables += [_agreement(found), _raters(found)]
        figures = [_figure(found)]
    tables.append(_design(found))
    signature = {"candor": version("candor-eval"), **found.choices}
    return Findings(
        command="randomisation",
        title=f"Randomisation: {found.opinion.criterion}",
        source=source,
        verdict=_verdict(found),
        notes=(*found.opinion.notes, *([f"The second pool is {other}."] if other else [])),
        tables=tuple(tables),
        figures=tuple(figures),
        method=METHOD,
        signature="|".join(f"{key}={value}" for key, value in signature.items()),
    )


def _pairs(pairs: RandomisedPairs) -> FindingsTable:
    frame = pd.DataFrame(
        {
            "system": pairs.first,
            "other": pairs.second,
            "units": [test.units for test in pairs.tests],
            "difference": [test.difference for test in pairs.tests],
            "p": [test.p for test in pairs.tests],
            "p_holm": pairs.holm,
            "exchanges": [test.exchanges for test in pairs.tests],
            "exact": [test.exact for test in pairs.tests],
        }
    )
    rows = frame.assign(exact=np.where(frame["exact"], "all", "drawn"))
    rows = rows.sort_values("p", kind="stable")
    unit = UNITS[pairs.within]
    columns = (
        SYSTEM_COLUMN,
        Column("other", "Other"),
        Column("units", "Units", COUNT),
        Column("difference", "Difference", THREE),
        Column("p", "p", P),
        Column("p_holm", "p, Holm", P),
        Column("exchanges", "Exchanges", COUNT),
        Column("exact", "of these"),
    )
    text = (
        f"A unit is a {unit}; those that judged both systems take part. p is two-sided: how often the "
        "difference is as large or larger when the two scores of each unit are exchanged or not at "
        "random, the observed order counted, so never 0. Up to 15 units all exchanges are gone through. "
        "Holm corrects for the number of pairs."
    )
    return FindingsTable("pairs", "Every two systems", text, Table(frame, columns, rows), SHOWN_PAIRS)


def _agreement(found: RandomisationAnalysis) -> FindingsTable:
    records = []
    for pool in found.pools:
        known = pool.agreement.single[np.isfinite(pool.agreement.single)]
        spread = {name: np.quantile(known, at) if len(known) else np.nan for name, at in QUANTILES.items()}
        records.append(
            {
                "raters": pool.raters,
                "average": pool.average,
                "count": len(known),
                "averages": pool.agreement.averages,
                "mean": pool.agreement.mean,
                **spread,
            }
        )
    frame = pd.DataFrame(records)
    columns = (
        Column("raters", "Raters"),
        Column("average", "Average of"),
        Column("count", "Raters with r", COUNT),
        Column("averages", "r of averages", THREE),
        Column("mean", "Mean r of one", THREE),
        *(Column(name, head, THREE) for name, head in zip(QUANTILES, _HEADS, strict=True)),
    )
    text = (
        "r over systems of one rater’s mean judgments with the average of a pool; that of the own pool is "
        "without the rater. r of averages is of the two pools’ averages. Raters with fewer than three "
        "systems, or who gave all the same, have no r."
    )
    return FindingsTable("one_against_average", "One against average", text, Table(frame, columns))


_HEADS = ("lowest", "25 %", "median", "75 %", "highest")


def _raters(found: RandomisationAnalysis) -> FindingsTable:
    frame = pd.concat(
        [
            pd.DataFrame({"raters": pool.raters, "average": pool.average, "r": pool.agreement.single})
            for pool in found.pools
        ],
        ignore_index=True,
    )
    columns = (Column("raters", "Raters"), Column("average", "Average of"), Column("r", "r", THREE))
    rows = frame.sort_values("r", kind="stable")
    text = "The whole distribution: a row for each rater, the lowest r first."
    return FindingsTable("raters", "Single raters", text, Table(frame, columns, rows), 0)


def _design(found: RandomisationAnalysis) -> FindingsTable:
    frame = pd.DataFrame(
        {
            "of": [each.of for each in found.design],
            "cells": [each.found.cells for each in found.design],
            "fewest": [each.found.fewest for each in found.design],
            "most": [each.found.most for each in found.design],
            "difference": [each.found.difference for each in found.design],
        }
    )
    columns = (
        Column("of", "Combinations"),
        Column("cells", "How many", COUNT),
        Column("fewest", "Fewest judgments", COUNT),
        Column("most", "Most judgments", COUNT),
        Column("difference", "Difference", COUNT),
    )
    text = (
        "How often each combination was judged. In a repeated Latin square every difference is 0, and "
        "each worker sees an item once. What the source does not tell is left out, and so are items that "
        "are one system’s alone."
    )
    return FindingsTable("design", "How balanced the design is", text, Table(frame, columns))


def _figure(found: RandomisationAnalysis) -> FindingsFigure:
    def draw() -> "Drawing":
        return one_against_average(found.pools)

    text = (
        "Each dot is a rater, the diamond their mean. Where the average is another pool’s, the square is "
        "r of the two averages: pools can agree although single raters do not."
    )
    return FindingsFigure("one-against-average", "One rater against the average.", text, draw)


def _verdict(found: RandomisationAnalysis) -> tuple[str, ...]:
    pairs = found.pairs
    told = [i for i, p in enumerate(pairs.holm) if p < SIGNIFICANT]
    names = listed([f"{pairs.first[i]} and {pairs.second[i]}" for i in told])
    sentences = [
        f"{whole(len(told))} of {whole(len(pairs.tests))} pairs of systems differ at p < {SIGNIFICANT:g} "
        f"after Holm’s correction{f': {names}' if told else ''}."
    ]
    for pool in found.pools:
        across = pool.agreement.averages
        if np.isfinite(across) and pool.raters == found.pools[0].raters:
            sentences.append(
                f"The two pools’ averages correlate at r = {decimal(across)}, single raters of the first "
                f"with the average of the second at {decimal(pool.agreement.mean)}."
            )
    if len(found.pools) == 1 and np.isfinite(found.pools[0].agreement.mean):
        sentences.append(
            "One rater correlates with the average of the others at r = "
            f"{decimal(found.pools[0].agreement.mean)}, averaged over raters."
        )
    return tuple(sentences)


if __name__ == "__main__":
    app(prog_name="python -m qc.randomisation")
