"""Findings of `qc.metrics`, for people."""

from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from qc.method.sample import Sample
from qc.metrics.against_people import (
    AgainstPeople,
    AgreementWithPeople,
    cost,
    halfway,
    judge_noise,
    unreadable,
    verdict,
)
from qc.metrics.figures import agreement_figure, rank_figure, scatter_figure
from qc.metrics.scoring import JudgedConversations
from qc.render.findings import Findings, FindingsFigure, FindingsTable
from qc.run import Unrated, codes
from qc.statistics.clustered_means import FEWEST_WORKERS
from qc.statistics.confidence import holm
from qc.table import COUNT, ONE, OVERALL, SHARE, THREE, TWO, Column, P, Table, matrix, shade

if TYPE_CHECKING:
    from qc.drawing.sheet import Drawing


SHOWN = 15
PEOPLE = (
    "People’s scores: mean z of the workers who passed, as in Ji et al., Achieving reliable human assessment "
    "of open-domain dialogue systems, ACL 2022. "
)
METHOD = (
    "Intervals for other systems: Fisher’s z for r; those of "
    "ρ and τ are its ends in their terms (Kruskal, Journal of the American Statistical Association 53, "
    "1958). Pairs right: Kocmi et al., To ship or not to ship, WMT 2021; soft: Thompson et al., Improving "
    "statistical significance in human evaluation of automatic metrics via soft pairwise accuracy, WMT 2024, "
    "with permutations by worker in place of segments. Which metric correlates more strongly: Williams "
    "(Regression analysis, 1959) as in Graham and Baldwin, EMNLP 2014. Curves: Cleveland, Robust locally "
    "weighted regression, Journal of the American Statistical Association 74, 1979."
)


def metrics_findings(
    sample: Sample,
    found: AgainstPeople,
    judged: JudgedConversations | None,
    price: tuple[float, float] | None,
    signature: str,
) -> Findings:
    """Return the findings in tables, figures and words.

    Args:
        sample: the run's ratings.
        found: metrics compared with people.
        judged: a judge's ratings; None without a judge.
        price: dollars per million tokens of the prompts and of the answers; None if unknown.
        signature: signature of the data and options.
    """
    tables = [agreement_table(found), criteria_table(found), _conversations(found), williams_table(found)]
    tables += [prefilter_table(found), *([_noise(judged)] if judged else []), systems_table(found)]
    return Findings(
        command="metrics",
        title=f"Metrics against people: {sample.run.name}",
        source=sample.run.source,
        verdict=(*verdict(found), *([cost(judged, price)] if judged else [])),
        notes=(*sample.run.notes, *found.notes, *unreadable(judged)),
        tables=(*tables, *_conversation_scores(sample, found)),
        figures=(*system_figures(found), _conversation_figure(found)),
        method=PEOPLE + METHOD,
        signature=signature,
    )


def system_figures(found: AgainstPeople) -> tuple[FindingsFigure, ...]:
    """Return the figures of the agreement over systems."""

    def agreement() -> "Drawing | None":
        return agreement_figure(found)

    def ranks() -> "Drawing | None":
        return rank_figure(found)

    return (
        FindingsFigure(
            "metric-agreement",
            "How metrics agree with people.",
            "Each dot is r with people’s overall scores, over systems; the line is its 95 % interval for "
            "other systems like these.",
            agreement,
        ),
        FindingsFigure(
            "metric-ranks",
            "Ranks by people and by metrics.",
            "A column is a system, people’s best at the left.",
            ranks,
        ),
    )


def _conversation_figure(found: AgainstPeople) -> FindingsFigure:
    def scatter() -> "Drawing | None":
        return scatter_figure(found)

    return FindingsFigure(
        "metric-scatter",
        "Conversations by metrics and by people.",
        "Each dot is a conversation: across the metric’s score, upwards the worker’s overall z. At most "
        "300 are drawn, of the six metrics that agree most. The curve is of all conversations (LOWESS). "
        "It is a smooth mean, which outliers hardly move, and has no interval. Where it is flat, people "
        "do not follow the metric.",
        scatter,
    )


def agreement_table(found: AgainstPeople) -> FindingsTable:
    """Return the agreement of each metric with people's overall scores."""
    directions = {metric.name: metric for metric in found.names}
    frame = pd.DataFrame(
        [
            {
                "metric": each.metric,
                "made_of": directions[each.metric].made_of,
                "better": "higher" if directions[each.metric].higher_is_better else "lower",
                "on": each.on,
                "n": each.systems.n,
                **_coefficients(each),
                "pairwise_accuracy": each.systems.pairwise_accuracy,
                "pairs": each.systems.pairs,
                **_soft(each, found),
            }
            for each in found.agreements
        ]
    )
    overall = frame[frame["on"] == OVERALL].sort_values("r", ascending=False, kind="stable")
    columns: tuple[Column, ...] = (
        Column("metric", "metric"),
        Column("better", "better is"),
        Column("n", "n", COUNT),
        Column("r", "r", THREE),
        Column("r_low", "95 %: other systems", THREE, upper="r_high"),
        Column("rho", "ρ", THREE),
        Column("tau", "τ", THREE),
        Column("pairwise_accuracy", "pairs right", SHARE),
    )
    text = (
        "n is the number of systems. The interval is Fisher's, for other systems like these. Where lower is "
        "better, scores are turned around first. Pairs that people have tied are left out; a tie of the "
        "metric is half right."
    )
    if found.conversations:
        columns += (Column("soft_pairwise_accuracy", "softly", SHARE),)
        text += (
            " Softly: the mean over pairs of 1 − |p of people − p of the metric|, by one-sided tests whose "
            "units are workers; only of metrics that score conversations, and of systems "
            f"with {FEWEST_WORKERS} workers or more."
        )
    return FindingsTable("agreement", "Metrics against people, overall", text, Table(frame, columns, overall))


def _coefficients(each: AgreementWithPeople) -> dict[str, float]:
    pairs = (("r", each.systems.pearson), ("rho", each.systems.spearman), ("tau", each.systems.kendall))
    return {
        f"{name}{end}": value
        for name, of in pairs
        for end, value in (("", of.value), ("_low", of.low), ("_high", of.high))
    }


def _soft(each: AgreementWithPeople, found: AgainstPeople) -> dict[str, float]:
    """Return the soft pairwise accuracy; NaN by criterion, and for a metric that scores only systems."""
    known = {one.metric: (one.soft_accuracy, one.soft_pairs) for one in found.conversations}
    soft, pairs = known.get(each.metric, (np.nan, 0)) if each.on == OVERALL else (np.nan, 0)
    return {"soft_pairwise_accuracy": soft, "soft_pairs": pairs}


def criteria_table(found: AgainstPeople) -> FindingsTable:
    """Return r of each metric with people by criterion."""
    labels = list(dict.fromkeys(each.on for each in found.agreements))
    names = [metric.name for metric in found.names]
    values = np.array([each.systems.pearson.value for each in found.agreements])
    table = values.reshape(len(names), len(labels))
    frame = pd.DataFrame(table, columns=labels)
    frame.insert(0, "metric", names)
    text = f"Pearson's r with people's scores, over n = {len(found.human.z)} systems; blue is agreement."
    return FindingsTable(
        "criteria",
        "Criterion by criterion",
        text,
        matrix(frame, "metric", names, labels, table, TWO, shade),
        0,
    )


def _conversations(found: AgainstPeople) -> FindingsTable:
    frame = pd.DataFrame(
        [
            {
                "metric": each.metric,
                "n": each.n,
                "r": each.r.value,
                "r_low": each.r.low,
                "r_high": each.r.high,
                "within_r": each.within.value,
                "within_low": each.within.low,
                "within_high": each.within.high,
            }
            for each in found.conversations
        ]
    )
    columns = (
        Column("metric", "metric"),
        Column("n", "n", COUNT),
        Column("r", "r", THREE),
        Column("r_low", "95 % interval", THREE, upper="r_high"),
        Column("within_r", "r within systems", THREE),
        Column("within_low", "95 % interval", THREE, upper="within_high"),
    )
    text = (
        "n is the number of conversations by workers who passed, each with that worker's overall z. "
        "Intervals know which conversations are of one worker; with fewer than "
        f"{FEWEST_WORKERS} workers, or where a few of many have most conversations, there is none. This r, "
        "squared, is what a metric can save of judgments (candor estimate)."
    )
    return FindingsTable("conversations", "Conversation by conversation", text, Table(frame, columns))


def williams_table(found: AgainstPeople) -> FindingsTable:
    """Return Williams' tests of the pairs of metrics."""
    columns = (
        Column("better", "stronger"),
        Column("worse", "weaker"),
        Column("n", "n", COUNT),
        Column("r_better", "r", THREE),
        Column("r_worse", "r", THREE),
        Column("r_between", "between", THREE),
        Column("t", "t", TWO),
        Column("p", "p", P),
        Column("p_one_sided", "one-sided", P),
        Column("holm", "Holm", P),
        Column("turned", "note"),
    )
    fields = ("better", "worse", "r_better", "r_worse", "r_between", "n", "t", "p", "p_one_sided", "turned")
    frame = pd.DataFrame(
        [{name: getattr(each, name) for name in fields} for each in found.williams], columns=fields
    )
    frame["holm"] = holm(frame["p"].to_numpy(np.float64))
    shown = frame.sort_values("p", kind="stable")
    shown = shown.assign(turned=["absolute values" if turned else "" for turned in shown["turned"]])
    text = (
        "Williams' test, n − 3 degrees of freedom: do the two metrics correlate equally strongly with "
        "people, over the n systems that both scored? The one that does more strongly in these scores stands "
        "first. p is two-sided, because the scores decide which one that is; published tables often give the "
        "one-sided p, half of it. Where one of the two correlates negatively, absolute values are compared: "
        "stronger then need not mean better. Holm corrects for the number of tests."
    )
    return FindingsTable(
        "williams", "Which metric correlates more strongly", text, Table(frame, columns, shown), SHOWN
    )


def prefilter_table(found: AgainstPeople) -> FindingsTable:
    """Return what choosing by a metric first loses."""
    systems = found.human.z["system"].to_numpy()[found.shared]
    frame = pd.DataFrame(
        [
            {
                "metric": name,
                "keep": each.keep,
                "kept": ", ".join(systems[each.kept]),
                "kept_n": int(each.kept.sum()),
                "best_kept": each.best_kept,
                "top_kept": each.top_kept,
                "regret": each.regret,
            }
            for name, each in found.prefilter
        ]
    )
    if frame.empty:
        return FindingsTable("prefilter", "", "", Table(frame))
    half = halfway(found)[0][1].keep
    shown = frame[frame["keep"] == half].assign(
        best_kept=lambda rows: ["yes" if kept else "NO" for kept in rows["best_kept"]]
    )
    columns = (
        Column("metric", "metric"),
        Column("kept_n", "kept", COUNT),
        Column("best_kept", "people's best kept"),
        Column("top_kept", f"of people's best {half}", COUNT),
        Column("regret", "regret (z)", THREE),
    )
    text = (
        f"What keeping the best {half} of {len(systems)} systems by the metric before asking people would "
        "have lost, of the metrics that differ over these systems and scored them all; ties at the cut stay. "
        "Regret is people's highest score minus their highest of what was kept. The file has every other "
        "number to keep."
    )
    return FindingsTable("prefilter", "Filtering by the metric first", text, Table(frame, columns, shown))


def _noise(judged: JudgedConversations) -> FindingsTable:
    rows = [
        {
            "criterion": label,
            "statement": statement,
            **asdict(judge_noise(judged.judgement.ratings[..., number])),
        }
        for number, (label, statement) in enumerate(judged.statements.items())
    ]
    columns = (
        Column("criterion", "criterion"),
        Column("n", "n", COUNT),
        Column("mean", "mean", ONE),
        Column("sd_between_conversations", "sd: conversations", ONE),
        Column("sd_between_repeats", "sd: repeats", ONE),
        Column("forwards_minus_backwards", "order", ONE),
        Column("low", "95 % interval", ONE, upper="high"),
    )
    text = (
        "Points of the scale of 0 to 100, before negative criteria are turned around; n is conversations. "
        "Between repeats: the same question asked again. Order: criteria asked forwards minus backwards; "
        "without an effect the interval holds 0."
    )
    return FindingsTable("judge", "The judge's own noise", text, Table(pd.DataFrame(rows), columns))


def systems_table(found: AgainstPeople, people: str = "people (z)") -> FindingsTable:
    """Return the metrics' scores of the systems; `people` is the heading of people's scores."""
    names = [metric.name for metric in found.names]
    frame = found.human.z[["system", "n", OVERALL]].rename(columns={OVERALL: "people"}).reset_index(drop=True)
    frame = pd.concat([frame, pd.DataFrame(found.metrics.T, columns=names)], axis=1)
    text = "Each metric as it was computed, not turned around; people's best system first."
    if found.qc is not None:
        qc = pd.DataFrame([["qc", np.nan, np.nan, *found.qc]], columns=["system", "n", "people", *names])
        frame = pd.concat([frame, qc], ignore_index=True)
        text += (
            " The last row is the quality-control bot, which takes no part in anything above: a metric that "
            "likes it is no metric of conversations."
        )
    columns = (
        Column("system", "system"),
        Column("people", people, THREE),
        *(Column(name, name, THREE) for name in names),
    )
    return FindingsTable("systems", "Scores of the systems", text, Table(frame, columns), 0)


def _conversation_scores(sample: Sample, found: AgainstPeople) -> list[FindingsTable]:
    run = sample.run
    scores = {metric.name: metric.conversations for metric in found.names if metric.conversations is not None}
    names = {"output": run.conversations["conversation"], "system": run.conversations["system"].astype(str)}
    takes_part = np.where(sample.is_qc, "no: qc bot", np.where(sample.kept, "yes", "no: worker failed"))
    every = pd.DataFrame({**names, "takes_part": takes_part, **scores})
    counted = pd.DataFrame({**names, **scores})[sample.counted] if scores else pd.DataFrame()
    if run.unrated is not None and scores:
        pool = _unrated_scores(run.unrated, found)
        passed = sample.screening.keeps(codes(run.unrated.conversations["worker"]))
        every = pd.concat([every, pool.assign(takes_part="no: left unrated")], ignore_index=True)
        counted = pd.concat([counted, pool[passed]], ignore_index=True)
    return [
        FindingsTable(
            "conversation_scores",
            "Scores of the conversations",
            "A row for each conversation, also those of workers who failed, of the quality-control bot, and "
            "those left unrated, which take no part in anything above.",
            Table(every),
            0,
        ),
        FindingsTable(
            "for_estimate",
            "The same for candor estimate",
            "Only the conversations that people's scores are of, and those of the same workers that were "
            "left unrated at random: the others are no fair pool for them.",
            Table(counted),
            0,
        ),
    ]


def _unrated_scores(unrated: Unrated, found: AgainstPeople) -> pd.DataFrame:
    rows = unrated.conversations
    return pd.DataFrame(
        {
            "output": rows["conversation"],
            "system": rows["system"].astype(str),
            **{metric.name: metric.unrated for metric in found.names if metric.unrated is not None},
        }
    )
