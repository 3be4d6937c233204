"""Options of an analysis, of its source and output, and the listener to its progress.

This module is fast to import, so that `--help` need not wait for pandas.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from qc.errors import OptionError

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

# Optional sections and their descriptions. Quality control and the scores are always computed.
SECTIONS = {
    "significance": "which systems beat which, and groups of systems",
    "intervals": "how far scores, ranks and differences would move with other workers",
    "forecast": "how a second run would correlate with this one",
    "replication": "how the second run given by --replicate does correlate",
    "criteria": "correlations between the criteria",
    "agreement": "agreement between workers who met the same systems",
    "filter": "whether the worker filter does its job; a table of all workers",
    "alpha": "what another level α would change",
    "persona": "each family with and without persona",
    "context": "effects of position, time and topic, and scores adjusted for them, and for style",
    "topics": "opinions of topics, changes of topic, words of the topics, scores by area",
    "effort": "words and characters that workers wrote",
    "groups": "what groups of workers think, by their background, and what a population would",
    "transcripts": "of a run that rates transcripts: repeats and κ, control items, workers per item, edits",
}
# Sections that compare all pairs of systems: time and memory grow with the square of the number of systems.
# With 150 systems, the intervals of 10,000 draws take 2 GB.
OF_PAIRS = frozenset({"significance", "intervals"})
MOST_COMPARED = 150  # systems
NEEDING_WORDS = frozenset({"context", "effort", "filter", "topics"})
FORMATS = ("html", "json", "csv", "xlsx", "svg")
Margins = Mapping[str, Mapping[str, float]]  # field → group → share of a population, which sum to 1
# Formats for a paper, and for a collection of results; `all` does not include them.
RECORDS = "every-eval-ever"
PAPER_FORMATS = ("latex", "pdf", RECORDS)
FEWEST_DRAWS, MOST_DRAWS = 100, 100_000


@dataclass(frozen=True)
class Dialogues:
    """Dialogues of other people, from a corpus.

    Attributes:
        name: name of their file.
        lines: (lines,), str, what they said.
        sides: (lines,), int from 0, the person of a dialogue who said it.
    """

    name: str
    lines: "pd.Series"
    sides: "NDArray[np.intp]"


@dataclass(frozen=True, kw_only=True)
class AnalysisOptions:
    """Options of an analysis.

    Attributes:
        alpha: level of quality control: a worker passes with p below it.
        seed: random seed of the bootstrap, split halves, simulated workers and sampled pairs.
        bootstrap: number of resamples.
        reward: dollars paid for an assignment; None uses the source's value.
        sections: keys of SECTIONS.
        margins: margins of the population that scores are weighted to; None for no weighting.
        fee: fee of the platform, as a share of the rewards.
        dialogues: dialogues of other people, whose lengths are compared with workers'; None for none.

    Raises:
        OptionError: a value is invalid.
    """

    alpha: float = 0.05
    seed: int = 0
    bootstrap: int = 10_000
    reward: float | None = None
    sections: frozenset[str] = frozenset(SECTIONS)
    margins: Margins | None = None
    fee: float = 0.0
    dialogues: Dialogues | None = None

    def __post_init__(self) -> None:
        if self.seed < 0:
            raise OptionError(f"--seed is {self.seed}, but a seed is a whole number from 0.")
        require_draws(self.bootstrap)
        if self.reward is not None and not 0 <= self.reward < inf:
            raise OptionError(f"--reward is {self.reward:g}, but a reward is 0 or more dollars.")
        if not 0 <= self.fee <= 1:
            raise OptionError(
                f"--fee is {100 * self.fee:g}, but a fee is 0 to 100 per cent, on top of the reward."
            )
        unknown = sorted(self.sections - SECTIONS.keys())
        if unknown:
            raise OptionError(
                f"--only names {', '.join(unknown)}, which is no section. Known are: {', '.join(SECTIONS)}."
            )


def require_draws(count: int) -> None:
    """Raise OptionError unless `count` resamples are enough for an interval, and fit into memory."""
    if count < FEWEST_DRAWS:
        raise OptionError(f"--bootstrap is {count}, but an interval needs at least {FEWEST_DRAWS} resamples.")
    if count > MOST_DRAWS:
        raise OptionError(
            f"--bootstrap is {count}, but the most is {MOST_DRAWS} resamples: with 10000, chance moves the "
            "ends of an interval by less than a hundredth of its width. Give fewer."
        )


@dataclass(frozen=True)
class LoadOptions:
    """What to read from a source.

    Attributes:
        run: slug or id of a run; None for the only one.
        include_partial: include assignments that were not completed, with their existing ratings.
        words: read the texts of the conversations.
        criteria: criteria to analyse instead of those that the source declares; see `raw_run.build_run`.
        option: command-line option that chooses the run; for messages.
        simulated: analyse simulated workers and leave out people; only for a database.
    """

    run: str | None = None
    include_partial: bool = False
    words: bool = True
    criteria: "pd.DataFrame | None" = None
    option: str = "--run"
    simulated: bool = False


OnStep = Callable[[str], None]  # called with a description when the next step begins


def no_step(_: str) -> None:
    """Do nothing: nobody watches the progress."""
