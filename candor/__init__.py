"""Human evaluation of dialogue systems: a live server, bots, and the analysis of what they measure.

    import candor

    run = candor.load("run.db")
    candor.analyse(run).tables["scores"]

The names in `__all__` are the public interface, which docs/how-to/analysis/analyse-from-python.md shows; all
else may move. Each name is imported when it is first used, because importing pandas takes longer than
printing `--help`.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bots import (
        Bot,
        BotError,
        Chat,
        Provenance,
        Reply,
        Turn,
        load_corpus,
        open_bot,
    )
    from qc.api import (
        SECTIONS,
        Analysis,
        AnalysisOptions,
        AnalysisResult,
        ConfidenceSequence,
        DataError,
        EmptyRunError,
        EstimateOptions,
        Estimates,
        Judged,
        Judgments,
        LeftOut,
        Loss,
        OptionError,
        OutputError,
        Problem,
        QcError,
        ReplicationError,
        Run,
        RunChoiceError,
        Selection,
        SourceError,
        Words,
        analyse,
        asymptotic,
        bounded,
        estimate,
        load,
        read_judgments,
        save,
        write_report,
    )

_OF_BOTS = (
    "Bot",
    "BotError",
    "Chat",
    "Provenance",
    "Reply",
    "Turn",
    "load_corpus",
    "open_bot",
)
__all__ = [
    "SECTIONS",
    "Analysis",
    "AnalysisOptions",
    "AnalysisResult",
    "Bot",
    "BotError",
    "Chat",
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
    "Provenance",
    "QcError",
    "ReplicationError",
    "Reply",
    "Run",
    "RunChoiceError",
    "Selection",
    "SourceError",
    "Turn",
    "Words",
    "analyse",
    "asymptotic",
    "bounded",
    "estimate",
    "load",
    "load_corpus",
    "open_bot",
    "read_judgments",
    "save",
    "write_report",
]


def __getattr__(name: str) -> object:
    """Return a public name, from `bots` or `qc.api`."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("bots" if name in _OF_BOTS else "qc.api"), name)


def __dir__() -> list[str]:
    """Return the public names, and those that Python adds to every module."""
    return sorted({*globals(), *__all__})
