"""Every table of a report, in the order in which the report has them.

Tables that the authors' scripts write too have the authors' columns and order. All numbers are in full
precision; what is not known is empty.
"""

from collections.abc import Callable
from functools import partial

from qc.analysis import Analysis
from qc.method.replication import Correlations, Replication
from qc.render.manifest import MadeFile, Make, of
from qc.render.table import Table
from qc.render.tables import context, correlations, kept, ranking, significance, words, workers

TableFile = MadeFile[Table]
Tables = dict[str, Table]


def _criteria(scale: str) -> Make[Table]:
    return of(lambda a: a.criteria, lambda found: correlations.criteria(found[scale], scale))


def _runs(which: Callable[[Replication], Correlations | None], scale: str) -> Make[Table]:
    return of(
        lambda a: which(a.replication) if a.replication else None,
        lambda found: correlations.runs(found, scale),
    )


TABLES: tuple[TableFile, ...] = (
    TableFile(
        "system_scores.csv", "z of each system, overall and by criterion, best system first", ranking.z_scores
    ),
    TableFile("system_raw_scores.csv", "the same without standardising", ranking.raw_scores),
    TableFile("intervals.csv", "the interval of every score", ranking.intervals, section="intervals"),
    TableFile(
        "ranks.csv",
        "the range of each system’s rank, and how often it comes first",
        of(lambda a: a.intervals, ranking.rank_ranges),
        section="intervals",
    ),
    TableFile(
        "differences.csv",
        "the difference of each pair of systems, its interval, and whether the two can be told apart",
        ranking.differences,
        section="intervals",
    ),
    TableFile(
        "significance_pvalues.csv",
        "p that the row’s system is higher than the column’s",
        of(lambda a: a.significance, partial(significance.p_values, correction="p")),
        section="significance",
    ),
    TableFile(
        "significance_holm.csv",
        "the same after Holm’s correction",
        of(lambda a: a.significance, partial(significance.p_values, correction="holm")),
        section="significance",
    ),
    TableFile(
        "clusters.csv",
        "groups of systems, plain and after Holm’s correction",
        of(lambda a: a.clusters, significance.clusters),
        section="significance",
    ),
    TableFile(
        "corr_between_scores.csv",
        "correlations between criteria from z, Pearson above the diagonal, Spearman below",
        _criteria("z"),
        section="criteria",
    ),
    TableFile(
        "corr_between_raw_scores.csv", "the same from raw scores", _criteria("raw"), section="criteria"
    ),
    TableFile(
        "corr_zscore_r1r2.csv",
        "correlations of z with the second run, overall and by criterion",
        _runs(lambda r: r.z, "z"),
        section="replication",
    ),
    TableFile(
        "corr_rawscore_r1r2.csv",
        "the same of raw scores",
        _runs(lambda r: r.raw, "raw"),
        section="replication",
    ),
    TableFile(
        "corr_zscore_r1r2_without_shared_workers.csv",
        "correlations of z without the workers of both runs, if there are such",
        _runs(lambda r: r.without_shared, "z"),
        section="replication",
    ),
    TableFile(
        "corr_rawscore_r1r2_without_shared_workers.csv",
        "the same of raw scores",
        _runs(lambda r: r.without_shared_raw, "raw"),
        section="replication",
    ),
    TableFile(
        "replication.csv",
        "on how many pairs of systems both runs conclude the same",
        of(lambda a: a.replication, correlations.same_conclusions),
        section="replication",
    ),
    TableFile(
        "replication_points.csv",
        "overall z of each system in both runs",
        of(lambda a: a.replication, correlations.replication_points),
        section="replication",
    ),
    TableFile(
        "forecast.csv",
        "how a second run would correlate with this one",
        of(lambda a: a.forecast, correlations.forecast),
        section="forecast",
    ),
    TableFile("worker_pvalues.csv", "p of every worker", workers.p_values),
    TableFile(
        "workers.csv",
        "all that is known of each worker",
        of(lambda a: a.filter_check, workers.workers),
        section="filter",
    ),
    TableFile(
        "filter.csv",
        "whether the filter does its job",
        of(lambda a: a.filter_check, workers.filter_check),
        section="filter",
    ),
    TableFile(
        "everyone.csv",
        "z and ranks if everyone were kept",
        of(lambda a: a.filter_check, workers.everyone),
        section="filter",
    ),
    TableFile("passrate.csv", "how many tasks and workers passed, as the authors count", kept.pass_rates),
    TableFile("duration.csv", "minutes per conversation", kept.duration),
    TableFile("kept.csv", "how many workers, assignments and conversations passed", kept.kept),
    TableFile("workload.csv", "assignments per worker", kept.workload),
    TableFile("cost.csv", "dollars", kept.cost),
    TableFile(
        "rater_agreement.csv",
        "pairs of workers who met the same systems, and their median r",
        of(lambda a: a.agreement, workers.agreement),
        section="agreement",
    ),
    TableFile(
        "rater_agreement_r.csv",
        "r of each such pair",
        of(lambda a: a.agreement, workers.agreement_r),
        section="agreement",
    ),
    TableFile(
        "topics_opinions.csv",
        "what workers thought of the topics",
        of(lambda a: a.topics, words.opinions),
        section="topics",
    ),
    TableFile(
        "topic_changes.csv", "how topics changed", of(lambda a: a.topics, words.changes), section="topics"
    ),
    TableFile(
        "topic_words.csv",
        "the most frequent words of the topics",
        of(lambda a: a.topics, words.topic_words),
        section="topics",
    ),
    TableFile(
        "effort.csv",
        "words and characters that workers wrote",
        of(lambda a: a.effort, words.effort),
        section="effort",
    ),
    TableFile(
        "alpha.csv",
        "what another level α would change",
        of(lambda a: a.alpha, workers.alpha),
        section="alpha",
    ),
    TableFile(
        "persona.csv",
        "each family with and without persona",
        of(lambda a: a.persona, context.persona),
        section="persona",
    ),
    TableFile(
        "context.csv",
        "effects of position, time and topic",
        of(lambda a: a.context, context.context),
        section="context",
    ),
    TableFile(
        "adjusted.csv",
        "scores adjusted for these effects",
        of(lambda a: a.adjusted, context.adjusted),
        section="context",
    ),
    TableFile(
        "adjusted_coefficients.csv",
        "the coefficients of the model behind the adjusted scores",
        of(lambda a: a.adjusted, context.coefficients),
        section="context",
    ),
    TableFile(
        "incidents.csv",
        "for each system, also of what is not analysed: failed conversations, late replies, replies by which "
        "it gave itself away; only from a database of the server or what was converted from it",
        of(lambda a: a.incidents, kept.incidents),
    ),
    TableFile("left_out.csv", "assignments that take no part, and why", kept.left_out),
)


def tables(analysis: Analysis) -> Tables:
    """Return the tables by the names of their files."""
    made = ((file.name, file.make(analysis)) for file in TABLES)
    return {name: table for name, table in made if table is not None}
