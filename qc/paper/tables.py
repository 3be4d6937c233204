"""The tables for a paper on one run, with their captions."""

from collections.abc import Iterator

import pandas as pd

from qc.analysis import Analysis
from qc.method.replication import Replication
from qc.method.scores import raters_of
from qc.number_format import percent, ranks, whole
from qc.paper.tex import PaperTable, escaped, paper_table
from qc.robustness.intervals import Intervals
from qc.sections.systems import criteria, ranking
from qc.sections.workers import screening
from qc.table import COUNT, INTERVAL, OVERALL, THREE, TWO, WRITTEN, Column, Table


def paper_tables(analysis: Analysis) -> Iterator[PaperTable]:
    """Yield the tables for which the analysis has numbers, in the order of a paper."""
    yield paper_table("ranking", _ranking(analysis), _ranking_caption(analysis), wide=True)
    yield paper_table("scores", ranking.z_scores(analysis), _scores_caption(analysis), wide=True)
    yield paper_table("pass-rates", screening.kept(analysis), _kept_caption(analysis))
    if analysis.criteria is not None:
        caption = (
            "Correlations between the criteria over the systems, from $z$: Pearson's $r$ above the diagonal, "
            r"Spearman's $\rho$ below."
        )
        yield paper_table("criteria", criteria.correlations(analysis.criteria["z"], "z"), caption, wide=True)
    if (found := analysis.replication) is not None:
        yield paper_table("replication", _replication(found), _replication_caption(found))


def _ranking(analysis: Analysis) -> Table:
    scores, found = analysis.scores.z, analysis.intervals
    rows = scores[["system", OVERALL]].assign(
        raw=analysis.scores.raw[OVERALL],
        held=scores["n"] // len(analysis.run.criteria),
        raters=raters_of(analysis.sample, analysis.scores),
    )
    columns = [Column("system", "System"), Column(OVERALL, "z", THREE)]
    if found is not None:
        rows = rows.assign(
            low=found.z_low[:, 0],
            high=found.z_high[:, 0],
            rank=list(map(ranks, found.rank_low.tolist(), found.rank_high.tolist())),
            group=[_group_of(name, found) for name in scores["system"]],
        )
        columns += [INTERVAL, Column("rank", "Rank", WRITTEN), Column("group", "Group", WRITTEN)]
    held = "Conv." if analysis.run.items is None else "Judgments"
    columns += [Column("raw", "Raw", TWO), Column("held", held, COUNT), Column("raters", "Raters", COUNT)]
    return Table(rows, tuple(columns))


def _group_of(system: str, found: Intervals) -> str:
    numbers = (number for number, group in enumerate(found.groups, start=1) if system in group)
    return str(next(numbers, "–"))


def _ranking_caption(analysis: Analysis) -> str:
    parts = ["Overall scores of the systems, best first: $z$ standardised by worker, Raw as rated."]
    if (found := analysis.intervals) is not None:
        level, count = escaped(percent(found.level, 0)), escaped(whole(found.count))
        parts.append(
            f"Intervals ({level}) are from a wild bootstrap of whole workers with {count} draws. Every "
            "system of a group is told apart from all systems of later groups by intervals of all "
            "differences that hold together, from which the ranges of ranks follow."
        )
    return " ".join(parts)


def _scores_caption(analysis: Analysis) -> str:
    reversed_ = analysis.run.criteria.loc[analysis.run.criteria["negative"], "label"]
    negative = f" Ratings of {escaped(', '.join(reversed_))} were reversed." if len(reversed_) else ""
    return f"Scores ($z$) by criterion; higher is better for all of them.{negative}"


def _kept_caption(analysis: Analysis) -> str:
    return f"What passed quality control at $\\alpha = {analysis.sample.screening.alpha:g}$."


def _replication(found: Replication) -> Table:
    names = [OVERALL, *found.labels]
    coefficients = {
        "pearson": found.z.pearson,
        "spearman": found.z.spearman,
        "kendall": found.z.kendall,
    }
    rows = pd.DataFrame(
        {"criterion": names, **{key: [r[name] for name in names] for key, r in coefficients.items()}}
    )
    heads = (Column(key, sign, THREE) for key, sign in zip(coefficients, ("r", "ρ", "τ"), strict=True))
    return Table(rows, (Column("criterion", "Criterion"), *heads))


def _replication_caption(found: Replication) -> str:
    same = found.same_conclusions
    pairs = (
        f"Both runs draw the same conclusion on {whole(same.n)} of {whole(same.of)} pairs of systems "
        f"($p < {same.alpha:g}$)."
    )
    return (
        f"Correlations of the scores ($z$) of {whole(len(found.systems))} systems in two runs: "
        rf"Pearson's $r$, Spearman's $\rho$, Kendall's $\tau$. {pairs}"
    )
