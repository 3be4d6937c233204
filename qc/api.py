"""Python interface: read a run, analyse it, write its report or another format, estimate from judgments.

Other programs may rely on these names, their arguments, and the attributes that their docstrings list.
`docs/how-to/analysis/analyse-from-python.md` has examples. An error in a source, in its data or in an option
raises a `QcError`, whose text says what to do.

`candor` has the same names, and imports this module on first use.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
import pandas as pd
from markupsafe import Markup

from qc.analysis import SECTIONS, Analysis, AnalysisOptions
from qc.analysis import analyse as analysis_of
from qc.convert import Loss, save
from qc.errors import (
    DataError,
    EmptyRunError,
    OptionError,
    OutputError,
    Problem,
    QcError,
    ReplicationError,
    RunChoiceError,
    SourceError,
)
from qc.judgments import Judged, Judgments, Selection, read_judgments
from qc.loading import load
from qc.method.scores import raters_of
from qc.options import OnStep, no_step
from qc.precision import EstimateOptions, Estimates, estimate
from qc.precision.confidence_sequence import ConfidenceSequence, asymptotic, bounded
from qc.render import write as write_report
from qc.render.manifest import tables
from qc.render.page import all_notes
from qc.render.sentences import verdict
from qc.run import LeftOut, Run, Words
from qc.sections.systems.ranking import ranking
from qc.table import OVERALL, Table

__all__ = [
    "SECTIONS",
    "Analysis",
    "AnalysisOptions",
    "AnalysisResult",
    "ConfidenceSequence",
    "DataError",
    "EmptyRunError",
    "EstimateOptions",
    "Estimates",
    "Judged",
    "Judgments",
    "LeftOut",
    "Loss",
    "OptionError",
    "OutputError",
    "Problem",
    "QcError",
    "ReplicationError",
    "Run",
    "RunChoiceError",
    "Selection",
    "SourceError",
    "Words",
    "analyse",
    "asymptotic",
    "bounded",
    "estimate",
    "load",
    "read_judgments",
    "save",
    "write_report",
]


# The one table without a file: the main results, in numbers.
SCORES = "scores"


@dataclass(frozen=True, repr=False)
class AnalysisResult(Analysis):
    """All results of one run (`Analysis`), with the verdict and the tables."""

    @property
    def verdict(self) -> tuple[str, ...]:
        """The sentences at the top of the report."""
        return verdict(self).sentences

    @cached_property
    def tables(self) -> "ResultTables":
        """The tables of the report as data frames, by file name without `.csv`; and the table `scores`."""
        return ResultTables(self)

    def __repr__(self) -> str:
        """Return the name of the run and the verdict."""
        return "\n".join((f"<AnalysisResult of {self.run.name}>", *self.verdict))

    def _repr_html_(self) -> str:
        """Return the verdict, notes and ranking as HTML for a notebook: no script, all text escaped."""
        noted = Markup("").join(Markup("<li>{}</li>").format(note) for note in all_notes(self))
        return str(
            Markup("<h4>{}</h4>").format(self.run.name)
            + Markup("").join(Markup("<p>{}</p>").format(sentence) for sentence in self.verdict)
            + (Markup("<ul>{}</ul>").format(noted) if noted else Markup(""))
            + _as_html(ranking(self))
            + Markup("<p><small>{}</small></p>").format(self.signature)
        )


class ResultTables(Mapping[str, pd.DataFrame]):
    """Tables by name, the most used first. Each access returns a new frame, which may be changed."""

    def __init__(self, analysis: Analysis) -> None:
        found = {name.removesuffix(".csv"): table.frame for name, table in tables(analysis).items()}
        self._frames = {SCORES: _scores(analysis), **found}

    def __getitem__(self, name: str) -> pd.DataFrame:
        """Return a table.

        Raises:
            KeyError: no table has this name; the message lists all names.
        """
        if name not in self._frames:
            raise KeyError(f"{name!r} is none of the tables {', '.join(self)}")
        return self._frames[name].copy()

    def __iter__(self) -> Iterator[str]:
        """Yield the names."""
        return iter(self._frames)

    def __len__(self) -> int:
        """Return the number of tables."""
        return len(self._frames)

    def __repr__(self) -> str:
        """Return the names."""
        return f"<tables {', '.join(self)}>"


def analyse(
    run: Run, options: AnalysisOptions | None = None, other: Run | None = None, on_step: OnStep = no_step
) -> AnalysisResult:
    """Return the results of `run`; arguments and errors are those of `qc.analysis.analyse`."""
    found = analysis_of(run, options, other, on_step)
    return AnalysisResult(**{field.name: getattr(found, field.name) for field in fields(found)})


def _scores(analysis: Analysis) -> pd.DataFrame:
    """Return a row per system, best first: z with interval, ranks, raw score, counts, z by criterion."""
    z, found = analysis.scores.z, analysis.intervals
    labels = analysis.run.criteria["label"].to_list()
    table = pd.DataFrame({"system": z["system"], "z": z[OVERALL]})
    if found is not None:
        table = table.assign(
            low=found.z_low[:, 0],
            high=found.z_high[:, 0],
            rank_low=found.rank_low,
            rank_high=found.rank_high,
            best_chance=found.best_chance,
        )
    table = table.assign(
        raw=analysis.scores.raw[OVERALL],
        conversations=z["n"] // len(labels),
        raters=np.asarray(raters_of(analysis.sample, analysis.scores)),
    )
    return table.join(z[labels].add_prefix("z "))


def _as_html(table: Table) -> Markup:
    heads = Markup("").join(Markup("<th>{}</th>").format(column.head) for column in table.shown)
    rows = (Markup("").join(Markup("<td>{}</td>").format(cell.text) for cell in row) for row in table.cells())
    body = Markup("").join(Markup("<tr>{}</tr>").format(row) for row in rows)
    return Markup("<table><thead><tr>{}</tr></thead><tbody>{}</tbody></table>").format(heads, body)
