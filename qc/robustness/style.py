"""Scores with the style of replies, their delay and the place of the conversation held constant.

Overall z of the counted conversations is regressed on indicators of the systems, the features of a
conversation's replies (FEATURES) and indicators of its place in the assignment. The controlled score of a
system is what the regression expects of it with the average features and places of all these conversations.
The coefficient of a feature comes from differences between conversations with the same system. A feature that
hardly differs between them cannot be told from the systems themselves, and is left out with the reason.

A feature is a mean over the replies of a conversation. It enters as its logarithm (of one more than it),
in standard deviations over the conversations, so that coefficients can be compared.

The result is descriptive. Style was not drawn at random: workers may bring about the style that they rate,
and what a system has to say may need its length.

Sources: Li, Angelopoulos and Chiang, *Does style matter? Disentangling style and substance in Chatbot Arena*,
LMSYS Org blog, 2024 (style as standardised covariates beside the systems; they have comparisons, we have
ratings); errors by worker with few workers: `qc.statistics.clustered`; Cameron and Miller, *A practitioner's
guide to cluster-robust inference*, Journal of Human Resources 50, 2015, section VI; no interval below 4
degrees of freedom: Tipton, *Small sample adjustments for robust variance estimation with
meta-regression*, Psychological Methods 20, 2015.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.method.sample import Sample
from qc.method.scores import Scores, places, ranks_of
from qc.robustness.context import positions
from qc.run import REMOVED
from qc.statistics.clustered import FEWEST_CARRIERS, ClusteredFit, Contrasts, carriers
from qc.statistics.formatting import formatting
from qc.statistics.groups import group_means
from qc.statistics.text import written_lengths
from qc.table import decimal, listed, whole

# The key of each feature, and its name in sentences.
FEATURES = {
    "words": "words in a reply",
    "list_items": "list items in a reply",
    "markdown": "other Markdown in a reply",
    "emoji": "emoji in a reply",
    "wait": "seconds until a reply",
}
# Smallest share of a feature's variance that systems, places and the features before it may leave.
FEWEST_LEFT = 0.05
# Conversations for each coefficient of the regression.
FEWEST_FOR_EACH = 5
FEWEST_SYSTEMS = 2
FEWEST_DEGREES = 4.0


@dataclass(frozen=True)
class StyleControl:
    """Scores with style held constant; S systems in the order of the scores.

    Attributes:
        why_not: why there are none; empty if there are. The tables are then empty.
        features: a row for each of FEATURES: `feature`, `mean` and `sd` (over conversations, per reply; NaN
            if unknown), `within` (share of the variance of its logarithm between conversations with the same
            system), `estimate` (change of z per standard deviation of the logarithm), `low`, `high` (95 %
            interval), `left_out` (the reason; empty if it is in the regression).
        places: `term`, `estimate`, `low`, `high`: each place against the first one. No interval if one of
            the two has fewer than 10 workers.
        systems: `system`, `plain`, `controlled`, `low`, `high` (interval of `controlled`), `change`
            (`controlled` minus the mean z of the same conversations), `change_low`, `change_high`, `rank`,
            `controlled_rank`, then the mean of each of FEATURES. NaN for a system without conversations.
        n: conversations in the regression.
        workers: workers who had them.
        sentence: the result in words.
    """

    why_not: str
    features: pd.DataFrame
    places: pd.DataFrame
    systems: pd.DataFrame
    n: int
    workers: int
    sentence: str


def control_style(sample: Sample, scores: Scores) -> StyleControl | None:
    """Return the scores with style held constant; None if the source holds no replies."""
    given = _features(sample)
    if given is None:
        return None
    known = sample.counted & np.isfinite(given["words"].to_numpy(np.float64))
    values = given[known].reset_index(drop=True)
    workers, systems = sample.workers[known], ranks_of(sample, scores)[sample.systems[known]]
    n, people, met = len(values), len(np.unique(workers)), np.unique(systems)
    if n == 0:
        return _refused("No reply is known of a worker who passed.", 0, 0)
    if people < FEWEST_CARRIERS:
        return _refused(f"It needs replies to at least {FEWEST_CARRIERS} workers who passed.", n, people)
    if len(met) < FEWEST_SYSTEMS:
        return _refused("It needs replies of at least two systems.", n, people)
    place = positions(sample)
    at = place.codes[known[sample.counted]]
    there = np.unique(at)
    of_system = np.equal(systems[:, None], met).astype(np.float64)
    of_place = np.equal(at[:, None], there[1:]).astype(np.float64)
    chosen = _choose(values, np.hstack([of_system, of_place]), of_system, workers)
    used = [name for name, why in chosen.left_out.items() if not why]
    coefficients = of_system.shape[1] + of_place.shape[1] + len(used)
    if not used:
        return _refused("No feature can be told from the systems.", n, people, chosen.table(values, None))
    if n < FEWEST_FOR_EACH * coefficients:
        return _refused(
            f"{coefficients} coefficients need at least {whole(FEWEST_FOR_EACH * coefficients)} "
            f"conversations, and there are {whole(n)}.",
            n,
            people,
        )
    controls = np.hstack([chosen.columns, of_place])
    fit = ClusteredFit(np.hstack([of_system, controls]), sample.overall["z"][known], workers)
    own = np.vstack([controls[systems == each].mean(axis=0) for each in met])
    middle = controls.mean(axis=0)
    of_controls = np.hstack([np.zeros((controls.shape[1], len(met))), np.eye(controls.shape[1])])
    single = fit.contrasts(of_controls)
    controlled = fit.contrasts(np.hstack([np.eye(len(met)), np.tile(middle, (len(met), 1))]))
    change = fit.contrasts(np.hstack([np.zeros((len(met), len(met))), middle - own]))
    by_place = carriers(at, workers, len(place.levels))[there]
    table = _systems(scores, met, controlled, change).join(_means(values, systems, len(scores.z)))
    features = chosen.table(values, single)
    terms = [f"place {place.levels[each]}, against {place.levels[there[0]]}" for each in there[1:]]
    enough = (by_place[1:] >= FEWEST_CARRIERS) & (by_place[0] >= FEWEST_CARRIERS)
    return StyleControl(
        "", features, _places(terms, single, len(used), enough), table, n, people, _sentence(features, table)
    )


def _refused(why: str, n: int, workers: int, features: pd.DataFrame | None = None) -> StyleControl:
    empty = pd.DataFrame()
    return StyleControl(why, empty if features is None else features, empty, empty, n, workers, "")


def _features(sample: Sample) -> pd.DataFrame | None:
    """Return the means over the known replies of each conversation, with FEATURES as columns."""
    run = sample.run
    if run.words is None or not run.words.exchanges["reply"].notna().any():
        return None
    replies = run.words.exchanges["reply"]
    known = (replies.notna() & (replies != REMOVED)).to_numpy(bool)
    texts = replies[known]
    of_conversation = run.words.exchanges["conversation"].to_numpy(np.intp)[known]
    marks = formatting(texts)
    counts = np.column_stack([written_lengths(texts).words, *marks]).astype(np.float64)
    means = np.column_stack(
        [group_means(column, of_conversation, len(sample.workers)) for column in counts.T]
    )
    found = pd.DataFrame(means, columns=["words", *marks._fields])
    waits = np.nan if run.waits is None else run.waits.to_numpy(np.float64)
    return found.assign(wait=waits)[[*FEATURES]]


class _Choice(NamedTuple):
    """The features of a regression.

    `columns`: (rows, used), their logarithms in standard deviations from the mean. `within`: of each feature,
    as in `StyleControl.features`. `left_out`: the reason of each feature; empty if it is used.
    """

    columns: NDArray[np.float64]
    within: dict[str, float]
    left_out: dict[str, str]

    def table(self, values: pd.DataFrame, found: Contrasts | None) -> pd.DataFrame:
        """Return the rows of `StyleControl.features`; `found` begins with the used features."""
        used = [name for name, why in self.left_out.items() if not why]
        table = pd.DataFrame(
            {
                "feature": list(FEATURES),
                "mean": [values[name].mean() for name in FEATURES],
                "sd": [values[name].std() for name in FEATURES],
                "within": [self.within[name] for name in FEATURES],
                "estimate": np.nan,
                "low": np.nan,
                "high": np.nan,
                "left_out": [self.left_out[name] for name in FEATURES],
            }
        )
        if found is not None:
            low, high = _interval(found)
            rows = [list(FEATURES).index(name) for name in used]
            for column, each in (("estimate", found.estimates), ("low", low), ("high", high)):
                table.loc[rows, column] = each[: len(used)]
        return table


def _choose(
    values: pd.DataFrame,
    others: NDArray[np.float64],
    of_system: NDArray[np.float64],
    workers: NDArray[np.intp],
) -> _Choice:
    """Choose the features that can be told from the systems, the places and one another, in order."""
    columns: list[NDArray[np.float64]] = []
    within, left_out = dict.fromkeys(FEATURES, np.nan), {}
    for name in FEATURES:
        given = values[name].to_numpy(np.float64)
        if not np.isfinite(given).all():
            left_out[name] = "unknown" if np.isnan(given).all() else "unknown of some conversations"
            continue
        usual = float(np.median(given))
        if len(np.unique(workers[given != usual])) < FEWEST_CARRIERS:
            left_out[name] = (
                f"fewer than {FEWEST_CARRIERS} workers met any" if usual == 0 else "hardly differs"
            )
            continue
        logs = np.log1p(given)
        logs = logs - logs.mean()
        spread = float(logs.std())
        column = logs / spread
        within[name] = _left(column, of_system)
        if within[name] < FEWEST_LEFT:
            left_out[name] = "each system has nearly the same in all its conversations"
        elif _left(column, np.column_stack([others, *columns])) < FEWEST_LEFT:
            left_out[name] = "cannot be told from the features above it"
        else:
            left_out[name] = ""
            columns.append(column)
    made = np.column_stack(columns) if columns else np.empty((len(values), 0))
    return _Choice(made, within, left_out)


def _left(column: NDArray[np.float64], design: NDArray[np.float64]) -> float:
    """Return the share of the variance of `column`, which has variance 1, that `design` does not explain."""
    fitted, *_ = np.linalg.lstsq(design, column, rcond=None)
    return float(((column - design @ fitted) ** 2).mean())


def _interval(found: Contrasts) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the ends of the intervals; NaN where the error has fewer than FEWEST_DEGREES."""
    low, high = (np.where(found.degrees >= FEWEST_DEGREES, end, np.nan) for end in found.interval())
    return low, high


def _places(terms: list[str], found: Contrasts, first: int, enough: NDArray[np.bool_]) -> pd.DataFrame:
    low, high = (np.where(enough, end[first:], np.nan) for end in _interval(found))
    return pd.DataFrame({"term": terms, "estimate": found.estimates[first:], "low": low, "high": high})


def _systems(scores: Scores, met: NDArray[np.intp], controlled: Contrasts, change: Contrasts) -> pd.DataFrame:
    plain = scores.z["overall"].to_numpy(np.float64)
    columns = ("controlled", "low", "high", "change", "change_low", "change_high")
    filled = np.full((len(columns), len(plain)), np.nan)
    made = (controlled.estimates, *_interval(controlled), change.estimates, *_interval(change))
    filled[:, met] = np.array(made)
    table = pd.DataFrame(
        {"system": scores.z["system"], "plain": plain, **dict(zip(columns, filled, strict=True))}
    )
    return table.assign(rank=places(plain), controlled_rank=places(filled[0]))


def _means(values: pd.DataFrame, systems: NDArray[np.intp], count: int) -> pd.DataFrame:
    return pd.DataFrame(
        {name: group_means(values[name].to_numpy(np.float64), systems, count) for name in FEATURES}
    )


def _sentence(features: pd.DataFrame, systems: pd.DataFrame) -> str:
    used = features[features["left_out"] == ""]
    moves = used[(used["low"] > 0) | (used["high"] < 0)]
    held = listed([FEATURES[name] for name in used["feature"]])
    first, now = (list(systems.loc[systems[column] == 1, "system"]) for column in ("rank", "controlled_rank"))
    leads = (
        f"{listed(first)} {'stays' if len(first) == 1 else 'stay'} first"
        if first == now
        else f"{listed(now)} {'is' if len(now) == 1 else 'are'} first instead of {listed(first)}"
    )
    moved = int(((systems["rank"] - systems["controlled_rank"]).abs() > 0).sum())
    ranks = (
        "every system keeps its rank"
        if moved == 0
        else f"{whole(moved)} of {whole(len(systems))} systems change rank"
    )
    goes = (
        "No feature of the replies goes with the score by more than chance."
        if moves.empty
        else " ".join(
            f"Conversations with more {FEATURES[name]} score {'higher' if estimate > 0 else 'lower'} "
            f"({decimal(estimate, 2)} z per standard deviation)."
            for name, estimate in zip(moves["feature"], moves["estimate"].tolist(), strict=True)
        )
    )
    return f"With {held} and place in the assignment held constant, {leads}, and {ranks}. {goes}"
