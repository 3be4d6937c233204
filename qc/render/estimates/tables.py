"""The tables of estimates."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

import pandas as pd

from qc.estimators.confidence_sequence import ConfidenceSequence
from qc.estimators.estimable import number
from qc.estimators.pool_mean import Interval
from qc.estimators.spread import Spread
from qc.number_format import MISSING, decimal
from qc.precision.estimates import Estimates, Part
from qc.precision.worth import Mean, Worth
from qc.render.table import COUNT, THREE, TWO, Column, Form, Table

NOT_ESTIMABLE = "not estimable"
NO_METRIC = "none"


def _known(value: float, digits: int) -> str:
    text = decimal(value, digits)
    return NOT_ESTIMABLE if text == MISSING else text


ESTIMATED_TWO, ESTIMATED_THREE = (Form(partial(_known, digits=digits)) for digits in (2, 3))
_WHERE = (Column("criterion", "Criterion"), Column("system", "System"), Column("scale", "Scale"))


@dataclass(frozen=True, slots=True)
class TitledTable:
    """A table with the name of its file, its title, and what to know to read it."""

    name: str
    title: str
    text: str
    table: Table


def estimate_tables(estimates: Estimates) -> tuple[TitledTable, ...]:
    """Return the tables, in the order in which they are read."""
    made = (
        TitledTable(
            "means.csv",
            "Means and their intervals",
            "The interval of record lets the judgments of one worker hang together. Where the pool has "
            "outputs that nobody judged, there is a row for each metric as control variate, too.",
            _means(estimates.parts),
        ),
        TitledTable(
            "efficiency.csv",
            "What a metric saves",
            "Data efficiency 1.25 means: the same precision from 100 judgments as from 125 without the "
            "metric. By r and by γ and ρ it is that of an endless pool if judgments were independent; by "
            "workers it lets those of one worker hang together; with this pool it is 1 if every output was "
            "judged.",
            _efficiency(estimates.parts),
        ),
        TitledTable(
            "spread.csv",
            "Spread of outputs and of workers",
            "γ is the variance of judgments of one output over that of outputs. As published, σ_f² holds "
            "part of σ_a², so γ is too small; it is there for comparison with the literature. The cap is the "
            "data efficiency of a perfect metric; as published it is about twice too high.",
            _spread(estimates.parts),
        ),
        TitledTable(
            "looks.csv",
            "Intervals that may be looked at any time",
            "Half-widths after all that has come in, at 95 %. The fixed one holds for one n fixed "
            "beforehand: stopping when it is narrow enough would make it miss far too often. The others hold "
            "at every n. Of workers who judged more than once, the values are their means.",
            _looks(estimates.parts),
        ),
        TitledTable(
            "widths.csv",
            "Width of the interval against the number of judgments",
            "By resampling, with the strongest metric and an endless pool, as if judgments were independent.",
            _widths(estimates.parts),
        ),
        TitledTable(
            "sequences.csv",
            "The intervals of each look",
            "Centre and half-width after each value, in the order of the source.",
            _sequences(estimates.parts),
        ),
    )
    return tuple(each for each in made if len(each.table.frame))


def _where(part: Part) -> dict[str, Any]:
    return {"criterion": part.criterion, "system": part.system, "scale": part.scale}


def _spread(parts: Sequence[Part]) -> Table:
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
                for key in (field.name for field in fields(Spread))
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
    return Table(pd.DataFrame(rows), columns)


def _efficiency(parts: Sequence[Part]) -> Table:
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
    return Table(pd.DataFrame(rows), columns)


def _means(parts: Sequence[Part]) -> Table:
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
    # With a pool that was rated throughout, a metric leaves the mean as it is.
    telling = (frame["metric"] == NO_METRIC) | (frame["rated"] < frame["pool"])
    return Table(frame, columns, frame[telling])


def _each_mean(part: Part) -> Iterator[tuple[Worth, Mean]]:
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


def _looks(parts: Sequence[Part]) -> Table:
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
    return Table(pd.DataFrame(rows), columns)


def _last(sequence: ConfidenceSequence | None) -> float:
    return float("nan") if sequence is None else float(sequence.half_width[-1])


def _widths(parts: Sequence[Part]) -> Table:
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
    return Table(pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(), columns)


def _sequences(parts: Sequence[Part]) -> Table:
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
    return Table(pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(), columns)
