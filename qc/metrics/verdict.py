"""Verdict of `qc.metrics`: the metric that agrees best with people, its loss, a judge's cost and noise."""

from dataclasses import dataclass
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from qc.metrics.against_people import OVERALL, AgainstPeople, AgreementWithPeople, halfway
from qc.metrics.scoring import JudgedConversations
from qc.statistics.confidence import t_interval
from qc.table import SIGNIFICANT, decimal, listed, whole


@dataclass(frozen=True, slots=True)
class JudgeNoise:
    """The judge's own noise on one criterion; points of the scale of 0 to 100, as given.

    Attributes:
        n: conversations with ratings in both orders.
        mean: mean of all ratings.
        sd_between_conversations: sd of the conversations' mean ratings; it includes some of the noise.
        sd_between_repeats: pooled within conversation and order (divisor k − 1). NaN with one repeat.
        forwards_minus_backwards: mean difference when the criteria are asked in the other order.
        low, high: its 95 % t interval over conversations.
    """

    n: int
    mean: float
    sd_between_conversations: float
    sd_between_repeats: float
    forwards_minus_backwards: float
    low: float
    high: float


def judge_noise(ratings: NDArray[np.float64]) -> JudgeNoise:
    """Return the noise in `ratings`, (conversations, 2 orders, repeats); NaN: an answer without ratings."""
    known = np.isfinite(ratings)
    of_orders = _mean(ratings, known, axis=2)
    both = np.isfinite(of_orders).all(axis=1)
    means = of_orders[both].mean(axis=1)
    difference = of_orders[both, 0] - of_orders[both, 1]
    n = int(both.sum())
    error = difference.std(ddof=1) / np.sqrt(n) if n > 1 else np.nan
    shift = float(difference.mean()) if n else np.nan
    low, high = t_interval(np.array(shift), np.array(error), n - 1)
    return JudgeNoise(
        n,
        float(ratings[known].mean()) if known.any() else np.nan,
        float(means.std(ddof=1)) if n > 1 else np.nan,
        _within(ratings, known),
        shift,
        float(low),
        float(high),
    )


def _within(ratings: NDArray[np.float64], known: NDArray[np.bool_]) -> float:
    """Return the pooled standard deviation of repeats around the mean of their conversation and order."""
    counts = known.sum(axis=2)
    degrees = int(np.maximum(counts - 1, 0).sum())
    deviations = np.where(known, ratings - _mean(ratings, known, axis=2)[..., None], 0)
    return float(np.sqrt((deviations**2).sum() / degrees)) if degrees else np.nan


def _mean(values: NDArray[np.float64], known: NDArray[np.bool_], axis: int) -> NDArray[np.float64]:
    counts = known.sum(axis=axis)
    sums = np.where(known, values, 0).sum(axis=axis)
    return np.asarray(sums / np.where(counts > 0, counts, np.nan))


# With fewer systems, the interval of r = .6 includes 0.
MANY_SYSTEMS = 12


def overall(found: AgainstPeople) -> list[AgreementWithPeople]:
    """Return the agreement of each metric with overall scores."""
    return [each for each in found.agreements if each.on == OVERALL]


def verdict(found: AgainstPeople) -> list[str]:
    """Say which metric agrees best with people, how certain that is, and what choosing by metrics loses."""
    known = [each for each in overall(found) if isfinite(each.systems.pearson.value)]
    if not known:
        return ["No metric varies over the systems, so none can be held against people."]
    # A large r is more likely with fewer systems, so only metrics that scored all of them are compared.
    most = max(each.systems.n for each in known)
    best = max(
        (each for each in known if each.systems.n == most), key=lambda each: each.systems.pearson.value
    )
    r = best.systems.pearson
    sentences = [
        f"{best.metric} agrees best with people: r = {decimal(r.value)} over n = {best.systems.n} systems, "
        + (f"95 % interval {decimal(r.low)} to {decimal(r.high)}." if isfinite(r.low) else "no interval.")
    ]
    if most < MANY_SYSTEMS:
        sentences.append(
            f"{most} systems are few: such an r moves widely with other systems, and the best of "
            f"{len(known)} metrics looks better than it is."
        )
    return [*sentences, *_rivals(found, best.metric), *_lost(found)]


def _rivals(found: AgainstPeople, best: str) -> list[str]:
    """Return a sentence on how many other metrics differ from the best one by Williams' test."""
    tests = [each for each in found.williams if best in (each.better, each.worse) and isfinite(each.p)]
    if not tests:
        return []
    below = sum(each.better == best and each.p < SIGNIFICANT for each in tests)
    return [
        f"By Williams' test it correlates more strongly than {below} of the {len(tests)} other metrics at "
        f"p < {SIGNIFICANT:g}, each looked at alone."
    ]


def _lost(found: AgainstPeople) -> list[str]:
    halves = halfway(found)
    if not halves:
        return []
    lost = [name for name, each in halves if not each.best_kept]
    people_best = found.human.z["system"].iloc[0]
    if not lost:
        return [
            f"Had half of the systems been thrown out by any of the metrics, {people_best} would be left."
        ]
    return [
        f"Had the better half of the systems been chosen by a metric first, people's best, {people_best}, "
        f"would have been thrown out by {len(lost)} of {len(halves)} metrics: {listed(lost)}."
    ]


def cost(judged: JudgedConversations, price: tuple[float, float] | None) -> str:
    """Return a sentence on the tokens of a judge's answers, and their cost if the price is known."""
    of = judged.judgement
    sentence = (
        f"The judge's {whole(of.answers)} answers took "
        f"{whole(of.prompt_tokens)} tokens of prompts and {whole(of.completion_tokens)} of answers, as the "
        f"endpoint counts them; {whole(of.asked)} of them were asked for now"
    )
    if price is None:
        return f"{sentence}. With --judge-price this is told in dollars."
    all_of, now = (
        (prompts * price[0] + answers * price[1]) / 1e6
        for prompts, answers in (
            (of.prompt_tokens, of.completion_tokens),
            (of.paid_prompt_tokens, of.paid_completion_tokens),
        )
    )
    return f"{sentence}. At the price given that is {all_of:.4f} dollars, {now:.4f} of them now."


def unreadable(judged: JudgedConversations | None) -> list[str]:
    """Return a note on answers of a judge that held no ratings, if there are any."""
    if judged is None or not judged.judgement.unreadable:
        return []
    return [
        f"{judged.judgement.unreadable} answers of the judge held no ratings, however often they were asked "
        "for; conversations without an answer in both orders have no score by it. The next call asks again."
    ]
