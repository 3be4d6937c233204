"""Python interface: read a run, analyse it, write its report or another format, estimate from judgments.

Other programs may rely on these names, their arguments, and the attributes that their docstrings list.
`docs/python.md` has examples. An error in a source, in its data or in an option raises a `QcError`, whose
text says what to do.

The functions for runs are also available as `qc.load` and so on, which import this module on first use.
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
