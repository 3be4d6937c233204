"""The Python interface: read a run, analyse it, write its report, or write it in another format.

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
from qc.load import load
from qc.render import write as write_report
from qc.run import LeftOut, Run, Words
from qc.save import Loss, save

__all__ = [
    "SECTIONS",
    "Analysis",
    "AnalysisOptions",
    "DataError",
    "EmptyRunError",
    "LeftOut",
    "Loss",
    "OptionError",
    "OutputError",
    "Problem",
    "QcError",
    "ReplicationError",
    "Run",
    "RunChoiceError",
    "SourceError",
    "Words",
    "analyse",
    "load",
    "save",
    "write_report",
]
