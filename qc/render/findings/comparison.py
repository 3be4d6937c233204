"""Findings of side-by-side comparisons, for people."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from qc.comparison import SystemComparison
from qc.comparison.side_by_side import FEWEST_AGAINST_QC, FEWEST_DRAWS, FEWEST_WORKERS, ComparisonScores
from qc.method.scores import Scores as Ratings
from qc.method.scores import places
from qc.render.findings import Findings, FindingsTable
from qc.statistics.confidence import LEVEL, without_noise
from qc.table import (
    COUNT,
    INTERVAL,
    SHARE,
    SIGNIFICANT,
    SYSTEM_COLUMN,
    THREE,
    Column,
    P,
    Table,
    decimal,
    listed,
    percent,
    probability,
    whole,
)

METHOD = (
    "Scores: the model of Bradley and Terry (Biometrika 39, 1952) with ties after Davidson (Journal of the "
    "American Statistical Association 65, 1970), by maximum likelihood; they exist if and only if every "
    "system was preferred to, or as good as, some other of every division of the systems in two (Ford 1957). "
    "Intervals: Student’s t with one degree of freedom less than there are workers, errors from workers "
    "drawn anew with all of their choices (Davison and Hinkley 1997, section 3.8). All pairs together: the "
    "largest difference in these draws (Romano and Wolf 2005). Sides and workers: sign tests. The filter by "
    "the quality-control bot is ours and not published; nobody is left out of the scores by it."
)


def comparison_findings(
    found: SystemComparison, ratings: Ratings | None, signature: str, remarks: Sequence[str] = ()
) -> Findings:
    """Return the results of a run of comparisons in tables and words.

    Args:
        found: results of the choices.
        ratings: scores from the ratings of the same run; None if it has none.
        signature: signature of the data and options.
        remarks: remarks on the ratings.
    """
    return Findings(
        command="report",
        title=f"Side by side: {found.choices.name}",
        source=found.choices.source,
        verdict=_verdict(found),
        notes=(*found.choices.notes, *_notes(found), *remarks),
        tables=(_scores(found, ratings), _pairs(found), _sides(found), _workers(found)),
        figures=(),
        method=METHOD,
        signature=signature,
    )


def _scores(found: SystemComparison, ratings: Ratings | None) -> FindingsTable:
    wins, ties = found.wins, found.ties
    frame = pd.DataFrame(
        {
            "system": found.systems,
            "score": found.scores.fit.scores,
            "low": found.scores.low,
            "high": found.scores.high,
            "comparisons": (wins + wins.T + ties).sum(axis=1).astype(int),
            "wins": wins.sum(axis=1).astype(int),
            "ties": ties.sum(axis=1).astype(int),
            "losses": wins.sum(axis=0).astype(int),
        }
    )
    columns = [
        SYSTEM_COLUMN,
        Column("score", "Score", THREE),
        INTERVAL,
        Column("comparisons", "Comparisons", COUNT),
        Column("wins", "Preferred", COUNT),
        Column("ties", "Ties", COUNT),
        Column("losses", "Other preferred", COUNT),
    ]
    if found.trusted is not None:
        frame["score_without_suspicious"] = found.trusted.fit.scores
        columns.append(Column("score_without_suspicious", "Without suspicious workers", THREE))
    if ratings is not None:
        frame["z"] = frame["system"].map(dict(zip(ratings.z["system"], ratings.z["overall"], strict=True)))
        columns.append(Column("z", "z of ratings", THREE))
    rows = frame.sort_values("score", ascending=False, kind="stable", na_position="last")
    text = (
        "Scores are logarithms of odds, of mean 0: of two systems whose scores differ by 1 one is preferred "
        "2.7 times as often as the other, ties aside."
    )
    return FindingsTable("scores", "Scores", text, Table(frame, tuple(columns), rows))


def _pairs(found: SystemComparison) -> FindingsTable:
    n = len(found.systems)
    records = [
        {
            "system": found.systems[i],
            "other": found.systems[j],
            "wins": int(found.wins[i, j]),
            "ties": int(found.ties[i, j]),
            "losses": int(found.wins[j, i]),
            "share": _ratio(found.wins[i, j] + found.ties[i, j] / 2, i, j, found),
        }
        for i in range(n)
        for j in range(i + 1, n)
    ]
    columns = (
        SYSTEM_COLUMN,
        Column("other", "Other"),
        Column("wins", "Preferred", COUNT),
        Column("ties", "Ties", COUNT),
        Column("losses", "Other preferred", COUNT),
        Column("share", "Share, ties halved", SHARE),
    )
    names = ["system", "other", "wins", "ties", "losses", "share"]
    text = "How often the first was preferred, neither, and the other; the qc bot’s pairs are not here."
    return FindingsTable(
        "pairs", "Every two systems", text, Table(pd.DataFrame(records, columns=names), columns), 50
    )


def _ratio(points: float, i: int, j: int, found: SystemComparison) -> float:
    number = found.wins[i, j] + found.wins[j, i] + found.ties[i, j]
    return points / number if number else np.nan


def _sides(found: SystemComparison) -> FindingsTable:
    left, right, more, less = found.left_first
    frame = pd.DataFrame(
        {
            "left": [left],
            "right": [right],
            "workers_left": [more],
            "workers_right": [less],
            "p": [found.side_p],
        }
    )
    columns = (
        Column("left", "Left preferred", COUNT),
        Column("right", "Right preferred", COUNT),
        Column("workers_left", "Workers: left more often", COUNT),
        Column("workers_right", "Right more often", COUNT),
        Column("p", "p", P),
    )
    text = (
        "Whether workers prefer a side, whatever stands there: a two-sided sign test over workers. Sides are "
        "balanced over every two systems, so that such a preference blurs scores and shifts none."
    )
    return FindingsTable("sides", "Left and right", text, Table(frame, columns))


def _workers(found: SystemComparison) -> FindingsTable:
    columns = (
        Column("worker", "Worker"),
        Column("choices", "Choices", COUNT),
        Column("over_qc", "System over qc bot", COUNT),
        Column("ties_qc", "Ties", COUNT),
        Column("under_qc", "qc bot over system", COUNT),
        Column("p", "p", P),
        Column("told", "Suspicious"),
    )
    told = np.where(
        found.workers["p"].isna(), "too few choices", np.where(found.workers["suspicious"], "yes", "no")
    )
    rows = found.workers.assign(told=told).sort_values("p", ascending=False, kind="stable")
    text = (
        "A one-sided sign test that the worker prefers systems to the quality-control bot. It takes "
        f"{FEWEST_AGAINST_QC} choices that are no ties; below that nobody can be told."
    )
    return FindingsTable("workers", "Workers", text, Table(found.workers, columns, rows), 0)


def _verdict(found: SystemComparison) -> tuple[str, ...]:
    scores = found.scores
    if scores.unfixed is not None:
        return (scores.unfixed,)
    order = np.argsort(-without_noise(scores.fit.scores), kind="stable")
    first = order[0]
    equal = [found.systems[i] for i in np.flatnonzero(places(scores.fit.scores) == 1)]
    if len(equal) > 1:
        return (f"{listed(equal)} were preferred equally, and most: {decimal(scores.fit.scores[first])}.",)
    name = found.systems[first]
    level = percent(LEVEL, digits=0)
    interval = _interval(scores, int(first))
    sentences = [f"{name} was preferred most: its score is {decimal(scores.fit.scores[first])}, {interval}."]
    apart = [found.systems[i] for i in order[1:] if scores.above[first, i]]
    if apart:
        sentences.append(f"At {level} for all pairs of systems together it lies above {listed(apart)}.")
    return tuple(sentences)


def _interval(scores: ComparisonScores, system: int) -> str:
    """Return a clause with the interval of a system's score, or why it has none; it follows the score."""
    if np.isfinite(scores.low[system]):
        ends = f"{decimal(scores.low[system])} to {decimal(scores.high[system])}"
        return f"with a {percent(LEVEL, digits=0)} interval from {ends}"
    if scores.carried_by_few:
        return (
            f"without an interval: a few of {whole(scores.workers)} workers made most of the choices, so "
            f"that they count as {decimal(scores.effective_workers, 1)}"
        )
    return (
        f"without an interval: that takes {FEWEST_WORKERS} workers who prefer a system at least once, and "
        f"{FEWEST_DRAWS} resamples that fix the scores"
    )


def _notes(found: SystemComparison) -> list[str]:
    notes = []
    for scores, whose in ((found.scores, ""), (found.trusted, " without suspicious workers")):
        if isinstance(scores, ComparisonScores) and scores.unusable:
            notes.append(
                f"Of {whole(scores.draws)} resamples{whose}, {whole(scores.unusable)} did not fix the "
                "scores and are left out of the intervals, which are too narrow for it."
            )
    if found.trusted is not None and found.trusted.unfixed is not None:
        notes.append(f"Without suspicious workers: {found.trusted.unfixed}")
    if found.side_p < SIGNIFICANT:
        notes.append(
            f"Workers prefer one side (p = {probability(found.side_p)}); sides are balanced over pairs."
        )
    suspicious = int(found.workers["suspicious"].sum())
    untold = int(found.workers["p"].isna().sum())
    if suspicious:
        notes.append(f"Workers who do not clearly prefer systems to the qc bot: {whole(suspicious)}.")
    if untold:
        notes.append(f"Workers with too few choices against the qc bot for a test: {whole(untold)}.")
    return notes
