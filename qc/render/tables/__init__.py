"""All tables of a report, in the order of the report.

Tables that the authors' scripts write too have the authors' columns and order. All numbers are in full
precision; unknown values are empty.

In the docstrings of these modules, "a reader sees" describes how a table is displayed, which may differ from
its file.
"""

from qc.analysis import Analysis
from qc.render.manifest import (
    ADJUSTED,
    AGREEMENT,
    ANSWERS,
    CEILING,
    CLUSTERS,
    CONTEXT,
    CRITERIA,
    EDITS,
    EFFORT,
    FILTER,
    FORECAST,
    GROUPS,
    INCIDENTS,
    PERSONA,
    QUIZ,
    REPEATS,
    REPLICATION,
    SCENARIOS,
    SERVED,
    SIGNIFICANCE,
    TOPICS,
    TRANSCRIPTS,
    TURN_RATINGS,
    WHOLE,
    WRITING,
    AnalysisPart,
    MadeFile,
)
from qc.render.table import Table
from qc.render.tables import (
    answers,
    context,
    correlations,
    groups,
    kept,
    quiz,
    ranking,
    scenarios,
    significance,
    transcripts,
    turn_ratings,
    words,
    workers,
    writing,
)

Tables = dict[str, Table]

# Tables made from both intervals and scores.
_SCORED = AnalysisPart("intervals", lambda a: a if a.intervals else None)


def _alpha(a: Analysis) -> Table | None:
    return (
        workers.alpha(a.alpha, "Conversations" if a.run.items is None else "Judgments") if a.alpha else None
    )


TABLES: tuple[MadeFile[Table], ...] = (
    WHOLE.file("system_scores.csv", "z overall and by criterion, best system first", ranking.z_scores),
    WHOLE.file("system_raw_scores.csv", "the same without standardising", ranking.raw_scores),
    _SCORED.file("intervals.csv", "interval of every score", ranking.intervals),
    _SCORED.file(
        "ranks.csv",
        "range of each system’s rank, its chance to be the best, its effective number of raters, its group",
        ranking.rank_ranges,
    ),
    _SCORED.file(
        "differences.csv",
        "difference of each pair of systems, its interval, whether they can be told apart",
        ranking.differences,
    ),
    SIGNIFICANCE.file(
        "significance_pvalues.csv",
        "p that the row’s system is higher than the column’s, as published",
        lambda s: significance.p_values(s.systems, s.p),
    ),
    SIGNIFICANCE.file(
        "significance_holm.csv",
        "the same after Holm’s correction",
        lambda s: significance.p_values(s.systems, s.holm),
    ),
    SIGNIFICANCE.file(
        "significance_by_worker.csv",
        "the same question, with the error of workers",
        lambda s: significance.p_values(s.systems, s.by_worker),
    ),
    SIGNIFICANCE.file(
        "significance_by_worker_holm.csv",
        "the same after Holm’s correction",
        lambda s: significance.p_values(s.systems, s.by_worker_holm),
    ),
    CLUSTERS.file(
        "clusters.csv", "groups of systems, plain and after Holm’s correction", significance.clusters
    ),
    CRITERIA.file(
        "corr_between_scores.csv",
        "correlations between criteria from z: Pearson above, Spearman below the diagonal",
        lambda c: correlations.criteria(c["z"], "z"),
    ),
    CRITERIA.file(
        "corr_between_raw_scores.csv",
        "the same from raw scores",
        lambda c: correlations.criteria(c["raw"], "raw"),
    ),
    REPLICATION.file(
        "corr_zscore_r1r2.csv",
        "correlations of z with the second run, overall and by criterion",
        lambda r: correlations.runs(r.z, "z"),
    ),
    REPLICATION.file(
        "corr_rawscore_r1r2.csv", "the same of raw scores", lambda r: correlations.runs(r.raw, "raw")
    ),
    REPLICATION.file(
        "corr_zscore_r1r2_without_shared_workers.csv",
        "correlations of z without the workers of both runs, if there are such",
        lambda r: correlations.runs(r.without_shared, "z"),
    ),
    REPLICATION.file(
        "corr_rawscore_r1r2_without_shared_workers.csv",
        "the same of raw scores",
        lambda r: correlations.runs(r.without_shared_raw, "raw"),
    ),
    REPLICATION.file(
        "replication.csv", "on how many pairs of systems both runs agree", correlations.same_conclusions
    ),
    REPLICATION.file(
        "replication_points.csv", "overall z of each system in both runs", correlations.replication_points
    ),
    FORECAST.file("forecast.csv", "how a second run would correlate with this one", correlations.forecast),
    WHOLE.file("worker_pvalues.csv", "p of every worker", workers.p_values),
    FILTER.file("workers.csv", "all that is known of each worker", workers.workers),
    FILTER.file("filter.csv", "whether the filter does its job", workers.filter_check),
    FILTER.file("everyone.csv", "z and ranks if everyone were kept", workers.everyone),
    WHOLE.file("passrate.csv", "tasks and workers that passed, as the authors count", kept.pass_rates),
    WHOLE.file("duration.csv", "minutes per conversation", kept.duration),
    WHOLE.file("kept.csv", "workers, assignments and conversations that passed", kept.kept),
    WHOLE.file("workload.csv", "assignments per worker", kept.workload),
    WHOLE.file("workload_distribution.csv", "how many workers did how many assignments", kept.distribution),
    WHOLE.file("cost.csv", "dollars", kept.cost),
    AGREEMENT.file(
        "rater_agreement.csv", "pairs of workers who met the same systems, their median r", workers.agreement
    ),
    AGREEMENT.file("rater_agreement_r.csv", "r of each such pair", workers.agreement_r),
    TOPICS.file("topics_opinions.csv", "what workers thought of the topics", words.opinions),
    TOPICS.file("topic_changes.csv", "how topics changed", words.changes),
    TOPICS.file("topic_words.csv", "the most frequent words of the topics", words.topic_words),
    EFFORT.file("effort.csv", "words and characters that workers wrote", words.effort),
    MadeFile("alpha.csv", "what another level α would change", _alpha, section="alpha"),
    PERSONA.file("persona.csv", "each family with and without persona", context.persona),
    CONTEXT.file("context.csv", "effects of position, time and topic", context.context),
    ADJUSTED.file("adjusted.csv", "scores adjusted for these effects", context.adjusted),
    ADJUSTED.file(
        "adjusted_coefficients.csv",
        "coefficients of the model behind the adjusted scores",
        context.coefficients,
    ),
    GROUPS.file(
        "groups.csv",
        "what each group of workers thinks of each system: z, rank, intervals",
        groups.standings,
    ),
    GROUPS.file(
        "group_places.csv",
        "how far systems change places between groups, and what chance does",
        groups.places,
    ),
    GROUPS.file(
        "population.csv", "scores for the population whose margins `--margins` gives", groups.population
    ),
    GROUPS.file("margins.csv", "these margins beside those of the workers", groups.margins),
    TRANSCRIPTS.file(
        "transcript_scores.csv",
        "items, judgments and z by both published conventions",
        lambda t: transcripts.conventions(t.conventions),
    ),
    TRANSCRIPTS.file(
        "workers_per_item.csv",
        "how many workers rated how many items",
        lambda t: transcripts.coverage(t.coverage),
    ),
    TRANSCRIPTS.file(
        "transcript_errors.csv",
        "errors of scores by other workers, other items and both",
        lambda t: transcripts.errors(t.errors),
    ),
    TRANSCRIPTS.file(
        "transcript_pairs.csv",
        "differences of systems with errors by other workers and other items",
        lambda t: transcripts.error_pairs(t.errors),
    ),
    TRANSCRIPTS.file(
        "controls.csv",
        "scores of bad twins, repeats and references beside those of ordinary items",
        lambda t: transcripts.controls(t.controls),
    ),
    TRANSCRIPTS.file(
        "controls_by_worker.csv",
        "the mean raw score of each kind of item by each worker",
        lambda t: transcripts.controls_by_worker(t.controls),
    ),
    TRANSCRIPTS.file(
        "chance_passes.csv",
        "how often workers pass who cannot tell bad twins",
        lambda t: transcripts.chance_passes(t.chance_passes),
    ),
    REPEATS.file("kappa.csv", "κ of items that a worker rated twice", transcripts.kappa),
    REPEATS.file(
        "repeat_correlations.csv",
        "how workers’ correlations with themselves are distributed",
        transcripts.repeat_correlations,
    ),
    REPEATS.file("repeats.csv", "how each worker agrees with themselves", transcripts.repeats),
    EDITS.file("edits.csv", "what workers changed in texts that they were to improve", transcripts.edits),
    INCIDENTS.file(
        "incidents.csv",
        "for each system, also of what is not analysed: failed conversations, late replies, replies by which "
        "it gave itself away, messages that workers reported, offensive words; only from a database of the "
        "server or what was converted from it",
        kept.incidents,
    ),
    INCIDENTS.file(
        "offensive.csv",
        "replies of each system and inputs to it that have offensive words, of the same conversations",
        kept.offensive,
    ),
    INCIDENTS.file(
        "flagged.csv",
        "replies of each system and inputs to it that the server’s moderation service flags, of the same "
        "conversations; only where it was asked",
        kept.flagged,
    ),
    SERVED.file(
        "served.csv",
        "what was evaluated: the models that answered for each system, as their bots told",
        kept.served,
    ),
    ANSWERS.file(
        "answers.csv",
        "how often each answer to the study’s own questions was given, by system after conversations",
        answers.counts,
    ),
    QUIZ.file("quiz.csv", "the quiz after conversations: asked, right, and right by chance", quiz.groups),
    QUIZ.file("quiz_workers.csv", "the same for each worker, with p of guessing", quiz.workers),
    QUIZ.file("quiz_filter.csv", "how the quiz agrees with the worker filter", quiz.agreement),
    QUIZ.file("quiz_not_asked.csv", "conversations without a quiz, and why", quiz.not_asked),
    WRITING.file("writing.csv", "conversations that look pasted, and how workers wrote", writing.groups),
    WRITING.file("writing_workers.csv", "how each worker wrote", writing.workers),
    WRITING.file("writing_scores.csv", "scores without conversations that look pasted", writing.scores),
    TURN_RATINGS.file(
        "turn_ratings.csv",
        "what workers thought of single replies, by system",
        turn_ratings.turn_ratings,
    ),
    CEILING.file(
        "ceiling.csv", "each system beside the people in a chatbot’s place, by criterion", ranking.ceiling
    ),
    SCENARIOS.file("scenarios.csv", "scores by scenario, of all systems and of each", scenarios.scenarios),
    ANSWERS.file("answers_numbers.csv", "the same of sliders and numbers: their means", answers.numbers),
    WHOLE.file("left_out.csv", "assignments that take no part, and why", kept.left_out),
)


def tables(analysis: Analysis) -> Tables:
    """Return the tables by file name."""
    made = ((file.name, file.make(analysis)) for file in TABLES)
    return {name: table for name, table in made if table is not None}
