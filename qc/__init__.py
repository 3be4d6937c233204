"""Analyse a run offline: from workers' ratings to scores of the systems.

    import qc

    run = qc.load("run.db")
    result = qc.analyse(run)
    result.tables["scores"]

The public interface is:

- the names in `__all__` (docs/python.md explains them),
- `qc.api`, which adds estimates from judgments,
- the commands `python -m qc.report`, `qc.metrics`, `qc.estimate`, `qc.power`, `qc.randomisation` and
  `qc.convert`.

Each name is imported when it is first used, because importing pandas takes longer than printing `--help`.
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
    """Return the public names, and those that Python adds to every module."""
    return sorted({*globals(), *__all__})
