"""The Python interface: read a run, analyse it, write its report or another format; estimate from judgments.

These names, their arguments and the attributes that their docstrings list are what a program outside this
package may rely on; `docs/python.md` shows them at work. What is wrong with a source, with the data in it or
with an option is a `QcError`, whose text says what to do.

What concerns runs is public as `qc.load` and so on, too, which import this module when they are asked for.
"""

from qc.analysis import SECTIONS, Analysis, AnalysisOptions
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
from qc.loading import load
from qc.precision import EstimateOptions, Estimates, estimate
from qc.render import write as write_report
from qc.result import AnalysisResult, analyse
from qc.run import LeftOut, Run, Words
from qc.saving import Loss, save

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
