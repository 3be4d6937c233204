"""Options for loading a source."""

from dataclasses import dataclass

import pandas as pd


@dataclass(frozen=True)
class LoadOptions:
    """What to read from a source.

    Attributes:
        run: slug or id of a run; None for the only one.
        include_partial: include assignments that were not completed, with their existing ratings.
        words: read the texts of the conversations.
        replies: read the bots' replies with the texts.
        criteria: criteria to analyse instead of those that the source declares; see `raw_run.build_run`.
        option: command-line option that chooses the run; for messages.
        simulated: analyse simulated workers and leave out people; only for a database.
    """

    run: str | None = None
    include_partial: bool = False
    words: bool = True
    replies: bool = True
    criteria: pd.DataFrame | None = None
    option: str = "--run"
    simulated: bool = False
