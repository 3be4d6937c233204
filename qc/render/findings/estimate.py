"""Findings of `qc.estimate`, for people."""

from collections.abc import Iterator, Sequence
from dataclasses import fields
from functools import partial
from math import isnan
from typing import TYPE_CHECKING, Any

import pandas as pd

from qc.estimators.efficiency import JudgmentSpread, NotEstimable, number
from qc.estimators.pool_mean import Interval
from qc.precision.confidence_sequence import ConfidenceSequence
from qc.precision.estimates import ALL_SYSTEMS, DRAWN, RAW, Estimates, EstimatesOfPart, Mean, Worth
from qc.render.figures import narrowing, widths
from qc.render.findings import Findings, FindingsFigure, FindingsTable
from qc.table import COUNT, MISSING, SYSTEM_COLUMN, THREE, TWO, Column, Form, Table, decimal, whole

if TYPE_CHECKING:
    from qc.drawing.sheet import Drawing

ON_TERMINAL = 30
NOT_ESTIMABLE = "not estimable"
NO_METRIC = "none"


def _known(value: float, digits: int) -> str:
    text = decimal(value, digits)
    return NOT_ESTIMABLE if text == MISSING else text


ESTIMATED_TWO, ESTIMATED_THREE = (Form(partial(_known, digits=digits)) for digits in (2, 3))
_WHERE = (Column("criterion", "Criterion"), SYSTEM_COLUMN, Column("scale", "Scale"))
METHOD = (
    "Spread, control variate and data efficiency: Chaganty, Mussmann and Liang, The price of debiasing "
    "automatic metrics in natural language evaluation, ACL 2018, with corrections that the tables label. "
    "Interval of record: two-way clusters (Cameron, Gelbach and Miller, 2011), workers by jackknife "
    "(MacKinnon, Nielsen and Webb, 2023). Metrics used together, and outputs drawn by probabilities: Zrnic "
    "and Candès, 2024. "
    "Intervals at any n: Waudby-Smith and Ramdas, 2024 (exact), and Waudby-Smith and others, 2024."
)


def estimate_findings(found: Estimates) -> Findings:
    """Return estimates in tables, figures and words; without a metric there is no verdict."""
    return Findings(
        command="estimate",
        title="How precise means are, and what metrics save",
        source=found.source,
        verdict=_verdict(found.parts),
        notes=found.notes,
        tables=(
            _means(found.parts),
            _efficiency(found.parts),
            _spread(found.parts),
            _looks(found.parts),
            _widths(found.parts),
            _sequences(found.parts),
        ),
        figures=(*_width_figure(found.parts), *_look_figure(found.parts)),
        method=METHOD,
        signature=found.signature,
    )


def _width_figure(parts: Sequence[EstimatesOfPart]) -> list[FindingsFigure]:
    """Return the figure of the part in which a metric is strongest; none without a curve."""
    curves = [part for part in parts if part.curve is not None]
    if not curves:
        return []
    part = max(curves, key=lambda each: each.metrics[0].strength)

    def draw() -> "Drawing":
        return widths(part)

    text = (
        f"{part.criterion}, {part.system}, with {part.metrics[0].metric}; an endless pool, and as if "
        "judgments were independent, so it is the best that the metric can do."
    )
    return [FindingsFigure("widths", "Width against judgments.", text, draw)]


def _look_figure(parts: Sequence[EstimatesOfPart]) -> list[FindingsFigure]:
    """Return the figure of the part with most values; none if no part has a stream of them."""
    streams = [(part.looks.n, part) for part in parts if part.looks is not None]
    if not streams:
        return []
    _, part = max(streams, key=lambda each: each[0])

    def draw() -> "Drawing":
        return narrowing(part)

    text = (
        f"{part.criterion}, {part.system}: half-widths after each value, in the order of the source. Only "
        "those at any n may be looked at again and again."
    )
    return [FindingsFigure("looks", "While data come in.", text, draw)]


def _where(part: EstimatesOfPart) -> dict[str, Any]:
    return {"criterion": part.criterion, "system": part.system, "scale": part.scale}


def _spread(parts: Sequence[EstimatesOfPart]) -> FindingsTable:
    rows = [
        {
            **_where(part),
            "outputs": part.spread.outputs,
            "judgments": part.spread.judgments,
            **{
                f"{key}_{convention}": number(getattr(getattr(part.spread, convention), key))
                for convention in (
                    "unbiased",
                    "published",
                    "mean_of_variances",
                    "random_effects",
                    "total_minus_within",
                )
                for key in (field.name for field in fields(JudgmentSpread))
            },
            "cap": number(part.cap),
            "cap_published": number(part.published_cap),
        }
        for part in parts
    ]
    columns = (
        *_WHERE,
        Column("outputs", "Outputs", COUNT),
        Column("judgments", "Judgments", COUNT),
        Column("sigma_a2_unbiased", "σ_a²", ESTIMATED_THREE),
        Column("sigma_f2_unbiased", "σ_f²", ESTIMATED_THREE),
        Column("gamma_unbiased", "γ", ESTIMATED_TWO),
        Column("gamma_published", "γ as published", ESTIMATED_TWO),
        Column("cap", "Cap", ESTIMATED_TWO),
        Column("cap_published", "Cap as published", ESTIMATED_TWO),
    )
    text = (
        "γ is the variance of judgments of one output over that of outputs. As published, σ_f² holds "
        "part of σ_a², so γ is too small; it is there for comparison with the literature. The cap is the "
        "data efficiency of a perfect metric; as published it is about twice too high."
    )
    return FindingsTable(
        "spread", "Spread of outputs and of workers", text, Table(pd.DataFrame(rows), columns), ON_TERMINAL
    )


def _efficiency(parts: Sequence[EstimatesOfPart]) -> FindingsTable:
    rows = [
        {
            **_where(part),
            "metric": worth.metric,
            "rated": worth.rated,
            "pool": worth.pool,
            **{
                field.name: number(getattr(worth.efficiency, field.name))
                for field in fields(worth.efficiency)
            },
            "de_cluster": number(worth.de_cluster),
            "de_pool": number(worth.de_pool),
            "de_record": number(worth.de_record),
            "de_bootstrap": part.curve.de if part.curve and worth is part.metrics[0] else float("nan"),
            "se_iid_mean": worth.effect.se_iid_mean if worth.effect else float("nan"),
            "se_iid_cv": worth.effect.se_iid_cv if worth.effect else float("nan"),
            "se_cluster_mean": worth.effect.se_cluster_mean if worth.effect else float("nan"),
            "se_cluster_cv": worth.effect.se_cluster_cv if worth.effect else float("nan"),
        }
        for part in parts
        for worth in part.metrics
    ]
    columns = (
        *_WHERE,
        Column("metric", "Metric"),
        Column("r_judgment", "r", ESTIMATED_TWO),
        Column("rho", "ρ", ESTIMATED_TWO),
        Column("de", "By r", ESTIMATED_TWO),
        Column("de_from_rho", "By γ and ρ", ESTIMATED_TWO),
        Column("de_cluster", "By workers", ESTIMATED_TWO),
        Column("de_pool", "With this pool", ESTIMATED_TWO),
        Column("de_record", "Of record", ESTIMATED_TWO),
    )
    text = (
        "Data efficiency 1.25 means: the same precision from 100 judgments as from 125 without the "
        "metric. By r and by γ and ρ it is that of an endless pool if judgments were independent; by "
        "workers it lets those of one worker hang together; with this pool it is 1 if every output was "
        "judged."
    )
    return FindingsTable(
        "efficiency", "What a metric saves", text, Table(pd.DataFrame(rows), columns), ON_TERMINAL
    )


def _means(parts: Sequence[EstimatesOfPart]) -> FindingsTable:
    rows = [
        {**_where(part), "metric": worth.metric or NO_METRIC, **_mean(mean), **_counts(worth)}
        for part in parts
        for worth, mean in _each_mean(part)
    ]
    columns = (
        *_WHERE,
        Column("metric", "Metric"),
        Column("rated", "Rated", COUNT),
        Column("pool", "Pool", COUNT),
        Column("estimate", "Mean", THREE),
        Column("clustered_low", "95 % interval of record", THREE, upper="clustered_high"),
        Column("normal_low", "if independent", THREE, upper="normal_high"),
    )
    frame = pd.DataFrame(rows)
    # If the whole pool was rated, a metric does not change the mean.
    telling = (frame["metric"] == NO_METRIC) | (frame["rated"] < frame["pool"])
    text = (
        "The interval of record lets the judgments of one worker hang together. Where the pool has "
        "outputs that nobody judged, there is a row for each metric as control variate, too."
    )
    return FindingsTable(
        "means", "Means and their intervals", text, Table(frame, columns, frame[telling]), ON_TERMINAL
    )


def _each_mean(part: EstimatesOfPart) -> Iterator[tuple[Worth, Mean]]:
    yield part.plain, part.plain.plain
    for worth in part.metrics:
        yield worth, worth.varied


def _counts(worth: Worth) -> dict[str, int]:
    return {"rated": worth.rated, "pool": worth.pool, "judgments": worth.judgments}


def _mean(mean: Mean) -> dict[str, float]:
    intervals = {
        "clustered": mean.by_formula.clustered,
        "normal": mean.by_formula.normal,
        "resampled_outputs": mean.outputs,
        "resampled_workers": mean.workers,
    }
    return {
        "estimate": mean.by_formula.estimate,
        **{
            f"{name}_{field.name}": getattr(interval, field.name)
            for name, interval in intervals.items()
            for field in fields(Interval)
        },
    }


def _looks(parts: Sequence[EstimatesOfPart]) -> FindingsTable:
    rows = [
        {
            "criterion": part.criterion,
            "system": part.system,
            "n": part.looks.n,
            "unit": part.looks.unit,
            "mean": float(part.looks.fixed.centre[-1]),
            "fixed": _last(part.looks.fixed),
            "asymptotic": _last(part.looks.plain),
            "exact": _last(part.looks.exact),
            "metric": part.looks.metric or NO_METRIC,
            "with_metric": _last(part.looks.varied),
        }
        for part in parts
        if part.looks
    ]
    columns = (
        *_WHERE[:2],
        Column("n", "n", COUNT),
        Column("unit", "of"),
        Column("mean", "Mean", THREE),
        Column("fixed", "Fixed n", THREE),
        Column("asymptotic", "Any n", THREE),
        Column("exact", "Any n, exact", THREE),
        Column("metric", "Metric"),
        Column("with_metric", "Any n, with metric", THREE),
    )
    text = (
        "Half-widths after all that has come in, at 95 %. The fixed one holds for one n fixed "
        "beforehand: stopping when it is narrow enough would make it miss far too often. The others hold "
        "at every n. Of workers who judged more than once, the values are their means."
    )
    if any(isnan(_last(part.looks.plain)) for part in parts if part.looks):
        text += (
            " Where nearly all values are the same, or a few lie far from the others, only the exact one "
            "holds, and the others are left out. "
            "It needs the ends of the scale: --scale LOW,HIGH."
        )
    return FindingsTable(
        "looks",
        "Intervals that may be looked at any time",
        text,
        Table(pd.DataFrame(rows), columns),
        ON_TERMINAL,
    )


def _last(sequence: ConfidenceSequence | None) -> float:
    return float("nan") if sequence is None else float(sequence.half_width[-1])


def _widths(parts: Sequence[EstimatesOfPart]) -> FindingsTable:
    frames = [
        pd.DataFrame(
            {
                "criterion": part.criterion,
                "system": part.system,
                "metric": part.metrics[0].metric,
                "n": part.curve.n,
                "mean": part.curve.mean,
                "with_metric": part.curve.control_variate,
            }
        )
        for part in parts
        if part.curve
    ]
    columns = (
        *_WHERE[:2],
        Column("metric", "Metric"),
        Column("n", "Judgments", COUNT),
        Column("mean", "Width", THREE),
        Column("with_metric", "With the metric", THREE),
    )
    text = "By resampling, with the strongest metric and an endless pool, as if judgments were independent."
    return FindingsTable(
        "widths",
        "Width of the interval against the number of judgments",
        text,
        Table(pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(), columns),
        0,
    )


def _sequences(parts: Sequence[EstimatesOfPart]) -> FindingsTable:
    frames = [
        pd.DataFrame(
            {
                "criterion": part.criterion,
                "system": part.system,
                "n": range(1, part.looks.n + 1),
                "unit": part.looks.unit,
                **{
                    f"{name}_{what}": getattr(sequence, what)
                    for name, sequence in (
                        ("fixed", part.looks.fixed),
                        ("asymptotic", part.looks.plain),
                        ("exact", part.looks.exact),
                        ("with_metric", part.looks.varied),
                    )
                    if sequence is not None
                    for what in ("centre", "half_width")
                },
            }
        )
        for part in parts
        if part.looks
    ]
    columns = (
        *_WHERE[:2],
        Column("n", "n", COUNT),
        Column("unit", "of"),
        Column("fixed_centre", "Mean", THREE),
        Column("fixed_half_width", "Fixed n", TWO),
        Column("asymptotic_half_width", "Any n", TWO),
    )
    text = "Centre and half-width after each value, in the order of the source."
    return FindingsTable(
        "sequences",
        "The intervals of each look",
        text,
        Table(pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(), columns),
        0,
    )


def _verdict(found: Sequence[EstimatesOfPart]) -> tuple[str, ...]:
    """Return a sentence for each criterion and system: what the strongest metric saves there."""
    parts = [part for part in found if part.scale == RAW and part.metrics]
    single = [part for part in parts if part.system != ALL_SYSTEMS]
    return tuple(_saved(part, part.metrics[0]) for part in single or parts)


def _share(efficiency: float) -> str:
    """Return the number of judgments saved out of 100 at a data efficiency; `none` for less than one."""
    share = 100 * (1 - 1 / efficiency)
    return f"{whole(share)} of 100 judgments" if share >= 1 else "none"


def _saved(part: EstimatesOfPart, worth: Worth) -> str:
    where = f"{part.criterion}, {part.system}: "
    r, endless = worth.efficiency.r_judgment, worth.efficiency.de
    if r is DRAWN:
        return f"{where}{_here(worth)} Outputs were drawn by probabilities, and weigh by their inverse."
    if isinstance(r, NotEstimable) or isinstance(endless, NotEstimable):
        why = r.why if isinstance(r, NotEstimable) else str(endless)
        return f"{where}{worth.metric} saves none ({why})."
    many = "With many more outputs that nobody judged it would save"
    by_workers = worth.de_cluster
    if isinstance(by_workers, NotEstimable):
        would = f"{_share(endless)} if all judgments were independent; the workers are unknown"
    else:
        would = f"{_share(by_workers)} (were all judgments independent, {_share(endless)})"
    return f"{where}{_here(worth)} {many} {would}; r = {decimal(r, 2)}."


def _here(worth: Worth) -> str:
    """Return a sentence on what the metric saves with this pool, without naming the system."""
    if worth.rated == worth.pool:
        return f"{worth.metric} saves none here, because all {whole(worth.pool)} outputs were judged."
    known = worth.de_pool if isinstance(worth.de_record, NotEstimable) else worth.de_record
    share = "none" if isinstance(known, NotEstimable) else _share(known)
    return f"with {whole(worth.rated)} of {whole(worth.pool)} outputs judged, {worth.metric} saves {share}."
