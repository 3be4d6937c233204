"""The Python interface: read a run, analyse it, write its report or another format; estimate from judgments.

These names, their arguments and the attributes that their docstrings list are what a program outside this
package may rely on; `docs/analyst.md` has an example. What is wrong with a source, with the data in it or
with an option is a `QcError`, whose text says what to do.

It is a module of its own because importing all of it takes 0.7 s longer than what `qc.convert` needs.
"""

from qc.analysis import SECTIONS, Analysis, AnalysisOptions, analyse
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
from qc.estimators.confidence_sequence import ConfidenceSequence, asymptotic, bounded
from qc.judgments import Judged, Judgments, Selection, read_judgments
from qc.load import load
from qc.precision import EstimateOptions, Estimates, estimate
from qc.render import write as write_report
from qc.run import LeftOut, Run, Words
from qc.save import Loss, save

__all__ = [
    "SECTIONS",
    "Analysis",
    "AnalysisOptions",
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
