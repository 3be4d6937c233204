"""Options for loading a source."""

from dataclasses import dataclass

import pandas as pd


@dataclass(frozen=True)
class LoadOptions:
    """What is asked of a source.

    Attributes:
        run: slug or id of a run; None for the only one.
        include_partial: whether assignments that were not completed take part, with what was rated.
        words: whether what was said is wanted.
        replies: whether what the bots said is wanted with the words.
        criteria: what is analysed instead of what the source declares; see `raw_run.build_run`.
        option: of the command line, by which a run is chosen; for messages.
        simulated: whether simulated workers are analysed, and people left out; of a database only.
    """

    run: str | None = None
    include_partial: bool = False
    words: bool = True
    replies: bool = True
    criteria: pd.DataFrame | None = None
    option: str = "--run"
    simulated: bool = False
