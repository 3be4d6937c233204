"""Findings of `qc.power`, for people: numbers of judgments, and the worth of a metric in place of people."""

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from qc.planning.comparison import (
    BOOTSTRAP,
    OUTPUTS,
    WORKERS,
    MetricError,
    PairedComparison,
    are_apart,
    error_curve,
)
from qc.planning.power_analysis import (
    AS_HERE,
    OUTPUTS_AS_HERE,
    Basis,
    Planned,
    PlanOptions,
    PowerAnalysis,
    Shown,
)
from qc.render.figures import break_even
from qc.render.findings import Findings, FindingsFigure, FindingsTable
from qc.table import (
    COUNT,
    SHARE,
    SYSTEM_COLUMN,
    THREE,
    TWO,
    Column,
    Form,
    Table,
    decimal,
    listed,
    percent,
    whole,
)

if TYPE_CHECKING:
    from qc.drawing.sheet import Drawing


# Judgments of each system: rows of the table of the curve.
CURVE = (1, 2, 5, 10, 20, 50, 100, 150, 200, 250, 300, 500, 1000, 2000, 5000, 10_000)
CLOSEST_PAIRS = 10
FOUR = Form(partial(decimal, digits=4))
# Share of the pairs below which people are practically certain.
FEW = 0.005
METHOD = (
    "Sizes: the two-sided t test of two means, by the noncentral t (Cohen, 1988), multiplied by the "
    "design effect. Both systems, rounded: as Wei and Jia print it (The statistical advantage of "
    "automatic NLG metrics at the system level, ACL 2021, tables 2 and 5). Noise, bias, variance, perfect "
    "annotator and worth: the same paper, sections 4 to 6, with the errors of its tables corrected; what "
    "it prints is shown beside it and called published. As there, people and metrics are drawn anew "
    "independently of each other."
)


def power_findings(found: PowerAnalysis, source: str = "") -> Findings:
    """Return an analysis in tables, figures and words; `source` is the source of the data, if any."""
    comparison = found.comparison
    tables = [*_plan_tables(found)]
    figures: list[FindingsFigure] = []
    if comparison is not None:
        tables += [_noise(comparison), _annotators(comparison), *metric_tables(comparison, found.metrics)]
        tables += [_significance(comparison, found.metrics, found.options)]
        tables += [_systems(comparison), _pairs(comparison, found.options), _curve(comparison)]
        figures = [_figure(comparison, found.metrics)]
    signature = {"candor": version("candor-eval"), **found.choices}
    return Findings(
        command="power",
        title="How many judgments"
        if comparison is None
        else f"How many judgments: {comparison.opinion.criterion}",
        source=source,
        verdict=_verdict(found),
        notes=() if comparison is None else comparison.opinion.notes,
        tables=tuple(tables),
        figures=tuple(figures),
        method=METHOD,
        signature="|".join(f"{key}={value}" for key, value in signature.items()),
    )


def _plan_tables(found: PowerAnalysis) -> list[FindingsTable]:
    tables = []
    if found.planned:
        tables.append(_sizes(found))
    if found.shown:
        tables.append(_shown(found.shown, found.options))
    return tables


def _asked(options: PlanOptions) -> str:
    return f"power {percent(options.power, 0)}, two-sided α = {options.alpha:g}"


def _workers(found: PowerAnalysis, planned: Planned) -> float:
    """Return the number of workers for a plan; NaN if the number of judgments per worker is unknown."""
    known = found.comparison is not None and planned.basis.name in (OUTPUTS_AS_HERE, AS_HERE)
    return found.comparison.workers_for(planned.size.per_system) if found.comparison and known else np.nan


def _sizes(found: PowerAnalysis) -> FindingsTable:
    planned = found.planned
    frame = pd.DataFrame(
        {
            "basis": [each.basis.name for each in planned],
            "difference": [each.size.difference for each in planned],
            "sd": [each.size.sd for each in planned],
            "design_effect": [each.size.design_effect for each in planned],
            "per_system": [each.size.per_system for each in planned],
            "workers": [_workers(found, each) for each in planned],
            "exact": [each.size.exact for each in planned],
            "both_published": [each.size.published for each in planned],
            "both_normal": [each.size.normal for each in planned],
        }
    )
    with_workers = bool(np.isfinite(frame["workers"]).any())
    columns = (
        Column("basis", "Judgments"),
        Column("difference", "Difference", THREE),
        Column("sd", "sd", THREE),
        Column("design_effect", "Design effect", TWO),
        Column("per_system", "Of each system", COUNT),
        *([Column("workers", "Workers", COUNT)] if with_workers else []),
        Column("both_published", "Both (published)", COUNT),
        Column("both_normal", "Both (normal)", COUNT),
    )
    text = (
        f"At {_asked(found.options)}. A plan needs so many of each system, rounded up. Published rounds the "
        "number for both systems together; the normal approximation is a little low. Independent "
        "judgments are each by another worker and of another output."
    )
    if found.metrics:
        text += " A control variate needs many outputs more that nobody judges."
    if with_workers:
        text += (
            " Workers are those whose judgments count, for all systems together, each judging as much as "
            "here."
        )
    return FindingsTable("sizes", "Judgments that a difference takes", text, Table(frame, columns))


def _shown(shown: Sequence[Shown], options: PlanOptions) -> FindingsTable:
    frame = pd.DataFrame(
        {
            "basis": [each.basis.name for each in shown],
            "judgments": [each.judgments for each in shown],
            "difference": [each.difference for each in shown],
        }
    )
    columns = (
        Column("basis", "Judgments"),
        Column("judgments", "Of each system", COUNT),
        Column("difference", "Difference", THREE),
    )
    text = f"The smallest difference that so many show, at {_asked(options)}."
    return FindingsTable("detectable", "What so many judgments show", text, Table(frame, columns))


def _noise(comparison: PairedComparison) -> FindingsTable:
    frame = pd.DataFrame(
        {
            "drawn": list(comparison.labels),
            "noise": [float(found.wavers.mean()) for found in comparison.labels.values()],
            "of_record": [unit == comparison.unit_of_record for unit in comparison.labels],
        }
    )
    rows = frame.assign(of_record=np.where(frame["of_record"], "yes", ""))
    columns = (
        Column("drawn", "Drawn together"),
        Column("noise", "Best observable error", SHARE),
        Column("of_record", "Of record"),
    )
    text = (
        "How often, at least, a repetition of this experiment would put two systems in the other order, "
        "averaged over pairs: no metric can be seen to err less than that. It takes the differences seen for "
        "the true ones, which are smaller on average. Judgments drawn each for itself "
        "(published) understate it, for those of one output, or of one worker, hang together. The larger "
        "of these two is the number of record."
    )
    return FindingsTable("noise", "How sure people are", text, Table(frame, columns, rows))


def _annotators(comparison: PairedComparison) -> FindingsTable:
    annotators = comparison.annotators
    names = ("variance", "within", "sd", "sd_within", "sd_perfect", "ratio")
    frame = pd.DataFrame(
        {
            "convention": list(annotators),
            **{name: [getattr(each, name) for each in annotators.values()] for name in names},
        }
    )
    columns = (
        Column("convention", "Convention"),
        Column("sd", "sd of a judgment", THREE),
        Column("sd_within", "within an output", THREE),
        Column("sd_perfect", "perfect annotator", THREE),
        Column("ratio", "R", THREE),
    )
    text = (
        "A perfect annotator gives the mean of endlessly many judgments of an output; one of his is worth "
        "R of these. Divisor k, as published, understates what is within an output. A plan goes by the "
        "last row, for between systems lies what is looked for. – where no output was judged twice, or "
        "nothing is left between outputs."
    )
    return FindingsTable(
        "perfect_annotator", "What a perfect annotator would leave", text, Table(frame, columns)
    )


def _systems(comparison: PairedComparison) -> FindingsTable:
    means, opinion = comparison.means, comparison.opinion
    frame = pd.DataFrame(
        {
            "system": list(opinion.systems),
            "judgments": means.count,
            "mean": means.mean,
            "sd": np.sqrt(means.variance * means.count / (means.count - 1)),
            "design_effect": comparison.mean_effects,
        }
    ).sort_values("mean", ascending=False, kind="stable", ignore_index=True)
    columns = (
        SYSTEM_COLUMN,
        Column("judgments", "Judgments", COUNT),
        Column("mean", "Mean", THREE),
        Column("sd", "sd", THREE),
        Column("design_effect", "Design effect", TWO),
    )
    text = "Design effect: the variance of the mean over workers, divided by that of independent judgments."
    return FindingsTable("systems", "The systems", text, Table(frame, columns))


def _pairs(comparison: PairedComparison, options: PlanOptions) -> FindingsTable:
    means, names = comparison.means, comparison.opinion.systems
    first, second = means.pairs
    unit = comparison.unit_of_record
    frame = pd.DataFrame(
        {
            "system": [names[i] for i in first],
            "other": [names[i] for i in second],
            "difference": means.differences,
            **{f"se_{each}": errors for each, errors in comparison.errors.items()},
            "noise": comparison.labels[unit].wavers,
            "design_effect": comparison.difference_effects,
        }
    )
    closest = frame.iloc[np.argsort(-frame["noise"].to_numpy(), kind="stable")]
    columns = (
        SYSTEM_COLUMN,
        Column("other", "Other"),
        Column("difference", "Difference", THREE),
        Column(f"se_{unit}", "se", THREE),
        Column("noise", "Noise", SHARE),
        Column("design_effect", "Design effect", TWO),
    )
    text = (
        f"The least sure pairs first. se and noise are with {unit} drawn anew. The design effect of a "
        "difference is that of workers; it is below 1 where workers who judge both systems are strict or "
        "lenient with both."
    )
    return FindingsTable("pairs", "Pairs of systems", text, Table(frame, columns, closest), CLOSEST_PAIRS)


def _curve(comparison: PairedComparison) -> FindingsTable:
    ratio = comparison.annotator.ratio
    differences, variances = comparison.means.differences, comparison.variances
    frame = pd.DataFrame({"judgments": CURVE, "people": error_curve(differences, variances, CURVE)})
    columns = [Column("judgments", "Of each system", COUNT), Column("people", "People", SHARE)]
    if np.isfinite(ratio):
        frame["perfect"] = error_curve(differences, variances, [ratio * size for size in CURVE])
        columns.append(Column("perfect", "Perfect annotator", SHARE))
    text = (
        "How often so many independent judgments of each system put two of them in another order than the "
        "one found here, averaged over pairs."
    )
    return FindingsTable("curve", "How often people err", text, Table(frame, tuple(columns)))


def _figure(comparison: PairedComparison, metrics: Sequence[MetricError]) -> FindingsFigure:
    def draw() -> "Drawing":
        return break_even(comparison, metrics)

    text = (
        "Where the line of a metric meets the curve, the metric is worth that many judgments of each "
        "system. The line is its error without noise and on an endless test set."
    )
    return FindingsFigure("break-even", "People, and metrics in their place.", text, draw)


def _verdict(found: PowerAnalysis) -> tuple[str, ...]:
    sentences = [_size_sentence(found), _shown_sentence(found)]
    if found.comparison is not None:
        sentences += [_noise_sentence(found.comparison), metric_sentence(found.metrics)]
    return tuple(filter(None, sentences))


def _basis_of_record(found: PowerAnalysis) -> Basis:
    """Return the basis of the verdict: the most expensive of the known ones."""
    gone = [basis for basis in found.bases if basis.name in (OUTPUTS_AS_HERE, AS_HERE)]
    people = gone or [basis for basis in found.bases if basis.sd == found.bases[0].sd]
    return max(people, key=lambda basis: basis.design_effect)


def _size_sentence(found: PowerAnalysis) -> str:
    basis = _basis_of_record(found)
    sizes = [each.size for each in found.planned if each.basis == basis]
    if not sizes:
        return ""
    needs = listed([f"{whole(each.per_system)} for {each.difference:.3g}" for each in sizes])
    workers = [_workers(found, each) for each in found.planned if each.basis == basis]
    if found.comparison is not None and np.isfinite(workers).all():
        needs += f", so {listed([whole(each) for each in workers])} workers for all systems"
    return (
        f"Judgments of each system that a difference takes, at {_asked(found.options)}: {needs} "
        f"({basis.name})."
    )


def _shown_sentence(found: PowerAnalysis) -> str:
    basis = _basis_of_record(found)
    differences = [
        f"{whole(each.judgments)} show {each.difference:.3g}" for each in found.shown if each.basis == basis
    ]
    if not differences:
        return ""
    return f"Judgments of each system, and the smallest difference they show: {listed(differences)}."


def _noise_sentence(comparison: PairedComparison) -> str:
    unit = comparison.unit_of_record
    noise = float(comparison.labels[unit].wavers.mean())
    kept = {OUTPUTS: "other outputs", WORKERS: "other workers"}[unit]
    pairs = len(comparison.means.differences)
    remark = "; a metric that seems to err less is lucky" if noise >= FEW else ""
    return (
        f"With {kept} people themselves would put at least {percent(noise)} of the "
        f"{whole(pairs)} pair{'s' if pairs > 1 else ''} of systems in the other order{remark}."
    )


def _judgments(number: float) -> str:
    """Return a number of judgments in words; it may be 0 or infinite."""
    if np.isnan(number):
        return "–"
    if np.isinf(number):
        return "over any number"
    return "under 1" if number < 1 else whole(number)


WORTH = Form(_judgments, "#,##0.0")


def metric_tables(comparison: PairedComparison, metrics: Sequence[MetricError]) -> list[FindingsTable]:
    """Return the errors of metrics, on average and pair by pair; no tables without metrics."""
    if not metrics:
        return []
    ratio = comparison.annotator.ratio
    frame = pd.DataFrame(
        [
            {
                "metric": each.metric,
                "labels": unit,
                "error": float(found.error.mean()),
                "noise_part": float(found.noise_part.mean()),
                "bias": float(found.bias.mean()),
                "variance_part": float(found.variance_part.mean()),
                "worth": each.worth,
                "worth_perfect": each.worth / ratio,
                "r": each.r,
            }
            for each in metrics
            for unit, found in each.errors.items()
        ]
    )
    of_record = frame[frame["labels"] == comparison.unit_of_record].sort_values("error", kind="stable")
    columns = (
        Column("metric", "Metric"),
        Column("error", "Error", SHARE),
        Column("noise_part", "= c0 × noise", SHARE),
        Column("bias", "+ bias", SHARE),
        Column("variance_part", "+ c1 × variance", SHARE),
        Column("worth", "Worth", WORTH),
        Column("worth_perfect", "Worth, perfect", WORTH),
    )
    text = (
        "Error is how often the metric puts two systems in the other order than people; people’s labels "
        f"vary with {comparison.unit_of_record} drawn anew. Worth is the number of independent judgments "
        "of each system at which people err as often as the metric is biased, that is, on an endless test "
        "set; then the same in judgments of the perfect annotator. The file also has what other ways of "
        f"drawing give, among them “{BOOTSTRAP}”."
    )
    on_average = FindingsTable(
        "metrics", "Metrics in the place of people", text, Table(frame, columns, of_record)
    )
    return [on_average, _metric_pairs(comparison, metrics), _convergence(metrics)]


def _convergence(metrics: Sequence[MetricError]) -> FindingsTable:
    frame = pd.DataFrame([{"metric": each.metric, **asdict(look)} for each in metrics for look in each.looks])
    columns = (
        Column("metric", "Metric"),
        Column("draws", "Resamples", COUNT),
        Column("error", "Error", SHARE),
        Column("error_se", "± se", FOUR),
        Column("noise_part", "c0 × noise", SHARE),
        Column("bias", "Bias", SHARE),
        Column("variance_part", "c1 × variance", SHARE),
    )
    text = (
        f"“{BOOTSTRAP}” from the first resamples alone. se says how far the error would differ with other "
        "resamples; Wei and Jia give less than 0.001 for 10,000 (appendix B)."
    )
    return FindingsTable("convergence", "How many resamples are enough", text, Table(frame, columns))


def _significance(
    comparison: PairedComparison, metrics: Sequence[MetricError], options: PlanOptions
) -> FindingsTable:
    rows = [
        {"by": "people", "drawn": unit, "apart": int(are_apart(labels.wavers, options.alpha).sum())}
        for unit, labels in comparison.labels.items()
    ]
    unit = comparison.unit_of_record
    for each in metrics:
        found = each.errors[unit]
        apart = are_apart(found.variance, options.alpha)
        wrong = apart & (found.bias == 1)
        firmly = wrong & are_apart(found.noise, options.alpha)
        rows.append(
            {
                "by": each.metric,
                "drawn": OUTPUTS,
                "apart": int(apart.sum()),
                "against": int(wrong.sum()),
                "against_apart": int(firmly.sum()),
            }
        )
    frame = pd.DataFrame(rows, columns=["by", "drawn", "apart", "against", "against_apart"])
    pairs = len(comparison.means.differences)
    frame.insert(3, "share", frame["apart"] / pairs)
    columns = (
        Column("by", "By"),
        Column("drawn", "Drawn anew"),
        Column("apart", "Significant", COUNT),
        Column("share", "Of the pairs", SHARE),
        Column("against", "Against people", COUNT),
        Column("against_apart", "Against their significant ones", COUNT),
    )
    text = (
        f"Of {pairs} pairs of systems, those with p < {options.alpha:g} (two-sided normal test of the "
        "difference of the means), by people and by metrics. A metric is against people if it puts the two "
        f"in the other order; people’s p is with {unit} drawn anew."
    )
    return FindingsTable("significance", "Who reaches significance", text, Table(frame, columns))


def _metric_pairs(comparison: PairedComparison, metrics: Sequence[MetricError]) -> FindingsTable:
    names, (first, second) = comparison.opinion.systems, comparison.means.pairs
    unit = comparison.unit_of_record
    frame = pd.concat(
        [
            pd.DataFrame(
                {
                    "metric": each.metric,
                    "system": [names[i] for i in first],
                    "other": [names[i] for i in second],
                    "error": each.errors[unit].error,
                    "noise_part": each.errors[unit].noise_part,
                    "bias": each.errors[unit].bias,
                    "variance_part": each.errors[unit].variance_part,
                    "noise": each.errors[unit].noise,
                    "variance": each.errors[unit].variance,
                }
            )
            for each in metrics
        ],
        ignore_index=True,
    )
    columns = (
        Column("metric", "Metric"),
        SYSTEM_COLUMN,
        Column("other", "Other"),
        Column("error", "Error", SHARE),
        Column("noise_part", "= c0 × noise", SHARE),
        Column("bias", "+ bias", SHARE),
        Column("variance_part", "+ c1 × variance", SHARE),
    )
    rows = frame.sort_values("error", ascending=False, kind="stable")
    text = f"The largest errors first; people’s labels vary with {unit} drawn anew."
    return FindingsTable("metric_pairs", "Metrics, pair by pair", text, Table(frame, columns, rows), 0)


def metric_sentence(metrics: Sequence[MetricError]) -> str:
    """Return a sentence on the metric with the highest worth; "" without metrics."""
    if not metrics:
        return ""
    best = max(metrics, key=lambda each: each.worth)
    if best.worth < 1:
        return "No metric is worth a single judgment of each system."
    if np.isinf(best.worth):
        return (
            f"{best.metric} orders every pair as people do on average; no number of judgments errs as little."
        )
    return (
        f"The metric that is worth most is {best.metric}: {_judgments(best.worth)} judgments of each system."
    )
