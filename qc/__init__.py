"""Offline analysis of a run: from what workers rated to what can be said about the systems.

    import qc

    run = qc.load("run.db")
    result = qc.analyse(run)
    result.tables["scores"]

Public are the names of `__all__`, which docs/python.md explains; `qc.api`, which adds estimates from
judgments; and the commands `python -m qc.report`, `qc.metrics`, `qc.estimate`, `qc.power`,
`qc.randomisation` and `qc.convert`. The names are imported when they are first asked for: pandas takes
longer to start than `--help`.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qc.api import (
        SECTIONS,
        Analysis,
        AnalysisOptions,
        AnalysisResult,
        DataError,
        EmptyRunError,
        LeftOut,
        Loss,
        OptionError,
        OutputError,
        Problem,
        QcError,
        ReplicationError,
        Run,
        RunChoiceError,
        SourceError,
        Words,
        analyse,
        load,
        save,
        write_report,
    )

__all__ = [
    "SECTIONS",
    "Analysis",
    "AnalysisOptions",
    "AnalysisResult",
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


def __getattr__(name: str) -> object:
    """Return a public name, from `qc.api`."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("qc.api"), name)


def __dir__() -> list[str]:
    """Return the public names beside what Python puts into every module."""
    return sorted({*globals(), *__all__})
