"""The tables of the page: rows of cells as they are shown, made from the tables in full precision."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.analysis import Analysis
from qc.method.replication import Correlations
from qc.render.tables import GROUPS, OVERALL, Tables, triangles
from qc.run import CHANGES, OPINIONS
from qc.verdict.numerals import between, decimal, percent, probability, ranks, whole

SHOWN_ROWS = 200
SIGNIFICANT, SUGGESTIVE = 0.05, 0.1
STEPS = 5

Write = Callable[[float], str]


@dataclass(frozen=True, slots=True)
class Cell:
    """What a cell says, and `tone`, the class that colours it."""

    text: str
    tone: str = ""


@dataclass(frozen=True, slots=True)
class Grid:
    """A table: `heads` above the columns, of which the first names the rows, and those of numbers."""

    heads: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    numeric: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a frame: its name there, its heading here, and how its numbers are written (None: text)."""

    name: str
    head: str
    write: Write | None = None

    def cells(self, frame: pd.DataFrame) -> list[Cell]:
        """Return the cells of `frame` in this column."""
        values = frame[self.name].tolist()
        if self.write is None:
            return [Cell(str(value)) for value in values]
        return [Cell(self.write(value)) for value in values]


@dataclass(frozen=True, slots=True)
class Span:
    """Two columns of a frame that are the ends of an interval."""

    low: str
    high: str
    head: str = "95 % interval"

    def cells(self, frame: pd.DataFrame) -> list[Cell]:
        """Return the intervals of `frame`."""
        ends = zip(frame[self.low].tolist(), frame[self.high].tolist(), strict=True)
        return [Cell(between(low, high)) for low, high in ends]

    @property
    def write(self) -> Write:
        """Say that the column holds numbers."""
        return decimal


def grid(frame: pd.DataFrame, *columns: Column | Span) -> Grid:
    """Return the `columns` of `frame`."""
    return Grid(
        heads=tuple(column.head for column in columns),
        rows=tuple(zip(*(column.cells(frame) for column in columns), strict=True)),
        numeric=tuple(column.write is not None for column in columns),
    )


def matrix(
    corner: str,
    names: Sequence[str],
    heads: Sequence[str],
    values: NDArray[np.float64],
    write: Write,
    tone: Callable[[float], str] = lambda _: "",
) -> Grid:
    """Return numbers with a name before each row and a head above each column."""
    rows = zip(names, values.tolist(), strict=True)
    return Grid(
        heads=(corner, *heads),
        rows=tuple((Cell(name), *(Cell(write(each), tone(each)) for each in row)) for name, row in rows),
        numeric=(False, *(True for _ in heads)),
    )


def grids(analysis: Analysis, tables: Tables) -> dict[str, Grid]:
    """Return the tables of the page by name; one whose section was not computed is absent."""
    plain = {
        name: grid(tables[file].head(SHOWN_ROWS), *columns)
        for name, (file, columns) in _PLAIN.items()
        if file in tables and len(tables[file])
    }
    parts = (_ranking, _scores, _kept, _compared, _correlated, _screened, _said)
    return plain | {name: each for part in parts for name, each in part(analysis, tables).items()}


_two, _one = partial(decimal, digits=2), partial(decimal, digits=1)
_FROM_TO = Span("low", "high")

# Tables that are shown as they are: name -> file, columns.
_PLAIN: dict[str, tuple[str, tuple[Column | Span, ...]]] = {
    "everyone": (
        "everyone.csv",
        (
            Column("system", "System"),
            Column("rank", "Rank", whole),
            Column("rank_everyone", "Rank, everyone kept", whole),
            Column("z", "z", decimal),
            Column("z_everyone", "z, everyone kept", decimal),
        ),
    ),
    "workload": (
        "workload.csv",
        (
            Column("group", "Workers"),
            Column("workers", "Number", whole),
            Column("mean", "Mean", _two),
            Column("median", "Median", _one),
            Column("maximum", "Most", whole),
        ),
    ),
    "agreement": (
        "rater_agreement.csv",
        (
            Column("group", "Both workers"),
            Column("pairs", "Pairs", whole),
            Column("median_r", "Median r", decimal),
        ),
    ),
    "persona": (
        "persona.csv",
        (
            Column("family", "Family"),
            Column("z_without", "z without", decimal),
            Column("z_with", "z with", decimal),
            Column("difference", "Difference", decimal),
            _FROM_TO,
            Column("p", "p", probability),
        ),
    ),
    "context": (
        "context.csv",
        (
            Column("effect", "Effect"),
            Column("level", "Level"),
            Column("n", "Conversations", whole),
            Column("mean", "Mean", decimal),
            _FROM_TO,
        ),
    ),
    "adjusted": (
        "adjusted.csv",
        (
            Column("system", "System"),
            Column("plain", "z, plain", decimal),
            Column("adjusted", "z, adjusted", decimal),
            Span("low", "high", "95 % interval, adjusted"),
        ),
    ),
    "coefficients": (
        "adjusted_coefficients.csv",
        (
            Column("term", "Term"),
            Column("estimate", "Estimate", decimal),
            Column("se", "Standard error", decimal),
            Column("p", "p", probability),
        ),
    ),
    "left out": (
        "left_out.csv",
        (Column("assignment", "Assignment"), Column("worker", "Worker"), Column("reason", "Reason")),
    ),
}


def _ranking(analysis: Analysis, tables: Tables) -> dict[str, Grid]:
    z, found = analysis.scores.z, analysis.intervals
    table = z[["system", "n", OVERALL]].assign(
        raw=analysis.scores.raw[OVERALL], place=np.arange(1, len(z) + 1)
    )
    certainty: tuple[Column | Span, ...] = (Column("place", "Rank", whole),)
    if found is not None:
        places = map(ranks, found.rank_low.tolist(), found.rank_high.tolist())
        bounds = {"low": found.z_low[:, 0], "high": found.z_high[:, 0], "first": found.best_chance}
        table = table.assign(place=list(places), **bounds)
        certainty = (
            Column("place", "Rank", str),
            _FROM_TO,
            Column("first", "First", partial(percent, digits=0)),
        )
    place, *rest = certainty
    score = Column(OVERALL, "z", decimal)
    columns = (
        Column("system", "System"),
        place,
        score,
        *rest,
        Column("raw", "Raw", _two),
        Column("n", "n", whole),
    )
    return {"ranking": grid(table, *columns)}


def _scores(analysis: Analysis, tables: Tables) -> dict[str, Grid]:
    """Return the scores by criterion. Shades of z are strongest from 1; raw scores have none."""
    names = [OVERALL, *analysis.run.criteria["label"]]
    z, raw = analysis.scores.z, analysis.scores.raw
    systems = z["system"].tolist()
    return {
        "scores z": matrix("System", systems, names, z[names].to_numpy(np.float64), _two, shade),
        "scores raw": matrix("System", systems, names, raw[names].to_numpy(np.float64), _one),
    }


def shade(share: float) -> str:
    """Return the class that colours a value: its side of 0, and how far from it; 1 and more is farthest."""
    step = min(round(abs(share) * STEPS), STEPS) if np.isfinite(share) else 0
    return f"{'above' if share > 0 else 'below'}-{step}" if step else ""


def _kept(analysis: Analysis, tables: Tables) -> dict[str, Grid]:
    counts = grid(
        tables["kept.csv"],
        Column("unit", "What"),
        *(Column(name, name.capitalize(), whole) for name in ("passed", "failed", "total")),
        Column("rate", "Pass rate", percent),
    )
    minutes = (_two(getattr(analysis.minutes, group)) for group in GROUPS)
    cells = tuple(Cell(text) for text in ("minutes per conversation", *minutes, ""))
    return {"kept": Grid(counts.heads, (*counts.rows, cells), counts.numeric)}


def _compared(analysis: Analysis, tables: Tables) -> dict[str, Grid]:
    """Return what compares systems with each other."""
    found = {}
    if (significance := analysis.significance) is not None:
        for name, p in (("p", significance.p), ("holm", significance.holm)):
            shown = np.where(np.eye(len(p), dtype=bool), np.nan, p)
            names = [f"{number} {system}" for number, system in enumerate(significance.systems, start=1)]
            numbers = [str(number) for number in range(1, len(names) + 1)]
            found[name] = matrix("", names, numbers, shown, probability, _significant)
    if (intervals := analysis.intervals) is not None and intervals.indistinct:
        pairs = tables["differences.csv"]
        found["indistinct"] = grid(
            pairs[~pairs["told_apart"]].head(SHOWN_ROWS),
            Column("system", "System"),
            Column("other", "Other"),
            Column("difference", "Difference in z", decimal),
            _FROM_TO,
        )
    return found


def _significant(p: float) -> str:
    if p < SIGNIFICANT:
        return "significant"
    return "suggestive" if p < SUGGESTIVE else ""


def _correlated(analysis: Analysis, tables: Tables) -> dict[str, Grid]:
    """Return correlations: of criteria, of two runs, of a run with what is forecast."""
    found = {}
    for scale, each in (analysis.criteria or {}).items():
        found[f"criteria {scale}"] = matrix("", each.names, each.names, triangles(each), _two, shade)
    if (second := analysis.replication) is not None:
        found["replication z"] = _coefficients(second.z)
        found["replication raw"] = _coefficients(second.raw)
        if second.without_shared is not None:
            found["replication without shared"] = _coefficients(second.without_shared)
    if (foreseen := analysis.forecast) is not None:
        r = {OVERALL: foreseen.r, **foreseen.criteria}
        found["forecast"] = matrix("", ["forecast r"], list(r), np.array([list(r.values())]), decimal)
    return found


def _coefficients(found: Correlations) -> Grid:
    rows = {"Pearson": found.pearson, "Spearman": found.spearman, "Kendall": found.kendall}
    values = np.array([list(row.values()) for row in rows.values()], dtype=np.float64)
    return matrix("", list(rows), list(found.pearson), values, decimal)


def _screened(analysis: Analysis, tables: Tables) -> dict[str, Grid]:
    """Return the table of workers, and what other levels of the filter would change."""
    found = {}
    if (check := analysis.filter_check) is not None:
        found["workers"] = _workers(check.workers)
    if analysis.alpha is not None:
        table = tables["alpha.csv"]
        replicated = bool(table["replication_r"].notna().any())
        found["alpha"] = grid(
            table.assign(level=[f"{alpha:g}" for alpha in table["alpha"]]),
            Column("level", "α"),
            Column("workers", "Workers kept", whole),
            Column("conversations", "Conversations", whole),
            Column("ranking_rho", "ρ with this ranking", decimal),
            *([Column("replication_r", "r with the second run", decimal)] if replicated else []),
        )
    return found


def _workers(workers: pd.DataFrame) -> Grid:
    """Return those who failed, then those who passed most narrowly: the highest p first."""
    ordered = workers.sort_values(
        ["passed", "p", "worker"], ascending=[True, False, True], na_position="first"
    )
    shown = ordered.head(SHOWN_ROWS)
    return grid(
        shown.assign(outcome=np.where(shown["passed"], "passed", "failed")),
        Column("worker", "Worker"),
        Column("outcome", "Filter"),
        Column("p", "p", probability),
        Column("assignments", "Assign\u00adments", whole),
        Column("conversations", "Conver\u00adsations", whole),
        Column("sd", "SD of ratings", _one),
        Column("identical", "Identical ratings", partial(percent, digits=0)),
        Column("minutes", "Minutes", _one),
        Column("words", "Words an input", whole),
        Column("reason", "Why"),
    )


def _said(analysis: Analysis, tables: Tables) -> dict[str, Grid]:
    """Return what is known of the words of the conversations."""
    found = {}
    if analysis.topics is not None:
        found["opinions"] = _opinions(tables["topics_opinions.csv"])
        found["changes"] = _changes(tables["topic_changes.csv"])
    if analysis.effort is not None:
        found["effort"] = _effort(tables["effort.csv"])
    return found


def _opinions(shares: pd.DataFrame) -> Grid:
    named = shares["topics"].map({"opening": "opening topic", "every": "every topic"})
    return grid(
        shares.assign(which=named + ", " + shares["group"]),
        Column("which", "Topics, workers"),
        Column("n", "Number", whole),
        *(Column(opinion, f"{opinion.capitalize()} %", _two) for opinion in OPINIONS),
    )


def _changes(changes: pd.DataFrame) -> Grid:
    wide = changes.pivot(index="kind", columns="group", values=["count", "share"]).reindex(list(CHANGES))
    wide.columns = pd.Index([" ".join(pair) for pair in wide.columns])
    columns = [
        column
        for group in GROUPS
        for column in (
            Column(f"count {group}", group.capitalize(), whole),
            Column(f"share {group}", f"{group.capitalize()} %", percent),
        )
    ]
    return grid(wide.reset_index(), Column("kind", "Kind of change"), *columns)


def _effort(lengths: pd.DataFrame) -> Grid:
    wide = lengths.pivot(index="measure", columns="group", values=["median", "mean"])
    wide.columns = pd.Index([" ".join(pair) for pair in wide.columns])
    wide = wide.reindex(lengths["measure"].unique()).reset_index()
    columns = [
        Column(f"{value} {group}", f"{value.capitalize()}, {group}", _two if value == "mean" else _one)
        for value in ("median", "mean")
        for group in GROUPS
    ]
    return grid(wide.assign(what=wide["measure"].str.replace("_", " ")), Column("what", "What"), *columns)
