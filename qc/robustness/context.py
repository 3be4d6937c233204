"""Effects of position, time, opinion and changes of topic on scores, and scores adjusted for them.

The effect of a level is the mean, over its conversations, of overall z minus the mean of the same system. A
worker's conversations are correlated, so standard errors and tests are clustered by worker, and valid for few
workers too. A level with fewer than 10 workers has no interval, and is left out of the test of its factor.

**Adjusted scores.** A linear mixed model is fitted to the overall z of the counted conversations: system,
position and opinion of the opening topic are fixed effects, worker is a random effect. The adjusted score of
a system is its estimated marginal mean: the model's expectation at the mix of positions and opinions of all
counted conversations. The mix is the same for every system, and keeps the adjusted scores on the same level
as the plain ones.

Because z is standardised within each worker, workers hardly differ in level, and their variance is often
estimated to be 0. The model is then ordinary least squares. This is expected.

The estimates come from the mixed model, but their intervals and p-values do not rely on it. They hold for any
dependence between a worker's conversations, not only a common level, and for few workers too.

A position or opinion from fewer than 10 workers mostly shows how those workers rate, not its own effect. Its
conversations are left out if at least two other levels of the factor remain. Otherwise the factor stays in
the model, and levels with too few workers get no standard errors and p-values.

Sources: `qc.statistics.mixed_model`; `qc.statistics.clustered`; Searle, Speed and Milliken, *Population
marginal means in the linear model*, The American Statistician 34, 1980.
"""

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.method.sample import Sample
from qc.method.scores import Scores, ranks_of
from qc.method.workload import assignment_minutes
from qc.run import CHANGES, OPINIONS, Words, codes
from qc.statistics.clustered import FEWEST_CARRIERS, ClusteredFit, Contrasts, JointTest, carriers
from qc.statistics.groups import group_means
from qc.statistics.mixed_model import fit_random_intercept
from qc.table import counted, decimal, relation

QUARTILES = (0.25, 0.5, 0.75)
MANY_CHANGES = 3


@dataclass(frozen=True)
class Factor:
    """A factor and its level for each counted conversation.

    Attributes:
        name: name of the factor.
        levels: names of the levels that occur, in their natural order.
        codes: (counted conversations,), index in `levels`; -1 if the source does not say.
    """

    name: str
    levels: tuple[str, ...]
    codes: NDArray[np.intp]


def positions(sample: Sample) -> Factor:
    """Return the position of each conversation in its assignment."""
    given = sample.run.conversations["position"].to_numpy(np.intp)[sample.counted]
    found, level = np.unique(given, return_inverse=True)
    return Factor("position", tuple(str(each) for each in found), level)


def minutes(sample: Sample) -> Factor:
    """Return the quarter of each conversation by the minutes per conversation of its assignment.

    The quarters divide the counted conversations with a known time. Equal times are in the same quarter, so
    there may be fewer than four.
    """
    in_assignment = codes(sample.run.conversations["assignment"])[sample.counted]
    values = assignment_minutes(sample.run)[in_assignment]
    known = np.isfinite(values)
    if not known.any():
        return Factor("minutes", (), np.full(len(values), -1))
    cuts = np.unique(np.quantile(values[known], QUARTILES))
    shown = [decimal(cut, 2) for cut in cuts]
    names = (
        f"up to {shown[0]}",
        *(f"{low} to {high}" for low, high in pairwise(shown)),
        f"over {shown[-1]}",
    )
    return occurring("minutes", names, np.where(known, np.searchsorted(cuts, values), -1))


def topic_opinions(sample: Sample) -> Factor | None:
    """Return the worker's opinion of the opening topic; None without texts."""
    words = sample.run.words
    if words is None:
        return None
    opinions = _opening_opinions(words, len(sample.workers))
    return occurring("topic opinion", OPINIONS, opinions[sample.counted])


def topic_changes(sample: Sample) -> Factor | None:
    """Return the number of topic changes; None without texts. Records of "no change" are not counted."""
    words = sample.run.words
    if words is None:
        return None
    changed = codes(words.changes["how"]) != CHANGES.index("no change")
    marked = words.changes["conversation"].to_numpy(np.intp)[changed]
    counts = np.bincount(marked, minlength=len(sample.workers))[sample.counted]
    names = (*(str(count) for count in range(MANY_CHANGES)), f"{MANY_CHANGES} or more")
    return occurring("topic changes", names, np.minimum(counts, MANY_CHANGES))


def _opening_opinions(words: Words, conversations: int) -> NDArray[np.intp]:
    """Return the opinion of each conversation's first opening topic, (conversations,); -1 if none."""
    opening = words.topics["round"].to_numpy() == 0
    marked, first = np.unique(words.topics["conversation"].to_numpy()[opening], return_index=True)
    opinions = np.full(conversations, -1)
    opinions[marked] = codes(words.topics["opinion"])[opening][first]
    return opinions


def occurring(name: str, levels: tuple[str, ...], given: NDArray[np.intp]) -> Factor:
    """Return the factor without the levels that no conversation has."""
    found = np.unique(given[given >= 0])
    level = np.full(len(levels) + 1, -1)  # the last entry is for code -1
    level[found] = np.arange(len(found))
    return Factor(name, tuple(levels[each] for each in found), level[given])


SIGNIFICANT = 0.05

# Names of the conversations of a level, for sentences.
_CONVERSATIONS = {
    "position": "conversations in place {} of their assignment",
    "minutes": "conversations of assignments with {} minutes per conversation",
    "topic opinion": "conversations on an opening topic with the opinion “{}”",
    "topic changes": "conversations whose number of topic changes is {}",
    "topic area": "conversations whose opening topic is of the area “{}”",
}
_CAUTIONS = {
    "minutes": " z compares a worker’s conversations with one another, so quick and slow workers differ "
    "little in it by construction.",
    "topic opinion": " Who likes a topic was not drawn at random, so the topic need not be the cause.",
    "topic changes": " A poor conversation may be what makes a worker change the topic, so the change need "
    "not be the cause.",
    "topic area": " Workers chose their topics, so the topic need not be the cause.",
}


@dataclass(frozen=True, slots=True)
class Level:
    """`n` conversations of `workers`; `effect`: their mean z relative to their systems' means."""

    name: str
    n: int
    workers: int
    effect: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Effect:
    """A factor, and a test of the hypothesis that its levels have no effect on the score.

    `statistic` is Hotelling's T² on the scale of F, named with its degrees of freedom, for example
    `F(5, 144.2)`. It and `p` are NaN if fewer than two levels have enough workers, or if there are too few
    workers for the number of levels.
    """

    name: str
    levels: tuple[Level, ...]
    statistic_name: str
    statistic: float
    p: float
    sentence: str


@dataclass(frozen=True, slots=True)
class ContextEffects:
    """Effects in a fixed order. A factor with fewer than two known levels has no effect here."""

    effects: tuple[Effect, ...]


def context_effects(sample: Sample) -> ContextEffects:
    """Return the effects on the counted conversations, each without conversations of unknown level."""
    factors = (positions(sample), minutes(sample), topic_opinions(sample), topic_changes(sample))
    return ContextEffects(
        tuple(
            effect_of(sample, factor) for factor in factors if factor is not None and len(factor.levels) > 1
        )
    )


def effect_of(sample: Sample, factor: Factor) -> Effect:
    """Return the effect of a factor on the counted conversations whose level is known."""
    known, counted, count = factor.codes >= 0, sample.counted, len(factor.levels)
    z, of_level = sample.overall["z"][counted][known], factor.codes[known]
    systems, workers = sample.systems[counted][known], sample.workers[counted][known]
    by = carriers(of_level, workers, count)
    enough = by >= FEWEST_CARRIERS
    rows = enough[of_level]
    effects, bounds = _relative_means(z, of_level, systems, count), np.full((2, count), np.nan)
    test = JointTest("F", np.nan, np.nan)
    if enough.sum() > 1:
        # Without the rows of levels with too few workers.
        among = np.cumsum(enough) - 1
        found, test = _fitted(z[rows], among[of_level[rows]], systems[rows], workers[rows])
        effects[enough], bounds[:, enough] = found.estimates, found.interval()
    sizes = np.bincount(of_level, minlength=count)
    levels = tuple(
        Level(name, int(n), int(who), *map(float, of))
        for name, n, who, *of in zip(factor.levels, sizes, by, effects, *bounds, strict=True)
    )
    sentence = _sentence(factor.name, levels, test)
    return Effect(factor.name, levels, test.name, test.statistic, test.p, sentence)


def _relative_means(
    z: NDArray[np.float64], levels: NDArray[np.intp], systems: NDArray[np.intp], count: int
) -> NDArray[np.float64]:
    """Return the mean of z minus the mean of its system, for each level, (count,)."""
    return group_means(z - group_means(z, systems, int(systems.max(initial=0)) + 1)[systems], levels, count)


def _fitted(
    z: NDArray[np.float64], levels: NDArray[np.intp], systems: NDArray[np.intp], workers: NDArray[np.intp]
) -> tuple[Contrasts, JointTest]:
    """Return the effects of the levels, and the test that they do not differ.

    The effect of a level is a weighted sum of z. The weight of a row is (the level's indicator − the level's
    share in the row's system) / (size of the level). These weights lie in the span of the indicators of
    systems and levels. So the effect is a contrast of the regression's coefficients, and the contrast is the
    product of the weights with the indicators.
    """
    count = int(levels.max()) + 1
    of_level = np.equal(levels[:, None], np.arange(count)).astype(np.float64)
    of_system = np.equal(systems[:, None], np.unique(systems)).astype(np.float64)
    sizes = of_level.sum(axis=0)
    shared = np.einsum("nl,ns->ls", of_level, of_system)
    products = np.diag(sizes) - np.einsum("ls,ms->lm", shared / of_system.sum(axis=0), shared)
    fit = ClusteredFit(np.hstack([of_system, of_level]), z, workers)
    wanted = np.hstack([np.zeros((count, of_system.shape[1])), products / sizes[:, None]])
    return fit.contrasts(wanted), fit.test(wanted)


def _sentence(factor: str, levels: tuple[Level, ...], found: JointTest) -> str:
    if not np.isfinite(found.p):
        return f"There are too few workers to tell whether {_called(factor)} moves scores."
    most = max(
        (level for level in levels if level.workers >= FEWEST_CARRIERS), key=lambda level: abs(level.effect)
    )
    test = f"{found.name} = {decimal(found.statistic, 2)}, p {relation(found.p)}"
    which = _CONVERSATIONS[factor].format(most.name)
    side = "below" if most.effect < 0 else "above"
    score = f"score {decimal(abs(most.effect), 2)} z {side} their systems’ means"
    if found.p >= SIGNIFICANT:
        return f"No effect of {_called(factor)} can be told from chance ({test}); at most, {which} {score}."
    caution = _CAUTIONS.get(factor, "")
    return f"{_called(factor).capitalize()} goes with the score ({test}): {which} {score}.{caution}"


def _called(factor: str) -> str:
    return {
        "position": "place in the assignment",
        "minutes": "time per conversation",
        "topic opinion": "opinion of the opening topic",
        "topic changes": "the number of topic changes",
        "topic area": "the area of the opening topic",
    }[factor]


@dataclass(frozen=True)
class Adjusted:
    """Plain and adjusted overall z of S systems, in the order of the scores.

    Attributes:
        systems: names.
        plain: (S,), overall z as in the scores.
        adjusted: (S,), marginal means; NaN for a system without a counted conversation.
        low, high: (S,), 95 % intervals of `adjusted`: standard errors by worker, adjusted for few workers,
            and Student's t with Satterthwaite's degrees of freedom. NaN for a system that only one worker
            rated.
        worker_sd: standard deviation of the workers' levels. It is often 0, because z gives every worker the
            same mean and standard deviation.
        residual_sd: standard deviation of the residuals, between conversations.
        coefficients: `term`, `estimate`, `se`, `degrees` (of freedom), `p` (two-sided, for a difference of 0;
            `se` and t as for the intervals). Each term is the difference of a position or opinion from the
            first level of its factor that has enough workers. `se`, `degrees` and `p` are NaN if one of the
            two levels has fewer than 10 workers.
        n: conversations in the model.
        notes: sentences on what was found or left out.
    """

    systems: tuple[str, ...]
    plain: NDArray[np.float64]
    adjusted: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    worker_sd: float
    residual_sd: float
    coefficients: pd.DataFrame
    n: int
    notes: tuple[str, ...]


def adjust(sample: Sample, scores: Scores) -> Adjusted | None:
    """Return the adjusted scores; None unless there are more counted conversations than effects."""
    rated = int((scores.z["n"] > 0).sum())
    context = _context(sample)
    rows = np.flatnonzero(sample.counted)[context.rows]
    ranks = ranks_of(sample, scores)[sample.systems[rows]]
    design = np.column_stack([np.equal(ranks[:, None], np.arange(rated)), context.columns]).astype(np.float64)
    response, workers = sample.overall["z"][rows], sample.workers[rows]
    model = fit_random_intercept(design, response, workers)
    if model is None:
        return None
    kept = model.kept
    white = model.whitened(np.column_stack([design[:, kept], response]), workers)
    fit = ClusteredFit(white[:, :-1], white[:, -1], workers)
    mix = context.columns.mean(axis=0)
    means = fit.contrasts(np.hstack([np.eye(rated), np.tile(mix, (rated, 1))])[:, kept])
    adjusted, low, high = np.full((3, len(scores.z)), np.nan)
    # A system has no conversation left if all of them were at levels with too few workers.
    for values, found in zip((adjusted, low, high), (means.estimates, *means.interval()), strict=True):
        values[:rated] = np.where(kept[:rated], found, np.nan)
    return Adjusted(
        systems=tuple(scores.z["system"]),
        plain=scores.z["overall"].to_numpy(np.float64),
        adjusted=adjusted,
        low=low,
        high=high,
        worker_sd=float(np.sqrt(model.group_variance)),
        residual_sd=float(np.sqrt(model.residual_variance)),
        coefficients=_coefficients(fit, kept, context),
        n=len(rows),
        notes=_notes(sample, context, kept[rated:]),
    )


@dataclass(frozen=True)
class _Context:
    """Terms of the model besides the systems: indicators of all levels of each factor but one.

    Attributes:
        terms: (T,), names.
        columns: (rows, T), indicators.
        carried: (T,), whether both levels that the term compares have enough workers.
        rows: (counted conversations,), whether the conversation is in the model.
        left_out: levels whose conversations are not in the model.
    """

    terms: tuple[str, ...]
    columns: NDArray[np.float64]
    carried: NDArray[np.bool_]
    rows: NDArray[np.bool_]
    left_out: tuple[str, ...]


def _context(sample: Sample) -> _Context:
    factors = [factor for factor in (positions(sample), topic_opinions(sample)) if factor is not None]
    known = [_with_unknown(factor) for factor in factors if factor.levels]
    workers = sample.workers[sample.counted]
    rows, left_out = np.ones(len(workers), bool), []
    for factor in known:
        enough = carriers(factor.codes[rows], workers[rows], len(factor.levels)) >= FEWEST_CARRIERS
        if enough.sum() > 1:
            rows &= enough[factor.codes]
            left_out += [
                f"{factor.name} {name}"
                for name, there in zip(factor.levels, enough, strict=True)
                if not there
            ]
    terms, columns, carried = [], [np.empty((int(rows.sum()), 0))], []
    for factor in known:
        codes = factor.codes[rows]
        workers_of = carriers(codes, workers[rows], len(factor.levels))
        enough = workers_of >= FEWEST_CARRIERS
        # The reference is the first level with enough workers, or else the first that occurs.
        first = int(np.argmax(enough if enough.any() else workers_of > 0))
        compared = [level for level in np.flatnonzero(workers_of) if level != first]
        terms += [
            f"{factor.name} {factor.levels[level]}, against {factor.levels[first]}" for level in compared
        ]
        columns.append(np.equal(codes[:, None], compared).astype(np.float64))
        carried += [enough[level] and enough[first] for level in compared]
    return _Context(tuple(terms), np.hstack(columns), np.array(carried, bool), rows, tuple(left_out))


def _with_unknown(factor: Factor) -> Factor:
    """Return the factor with unknown values as an additional last level."""
    if (factor.codes >= 0).all():
        return factor
    codes = np.where(factor.codes < 0, len(factor.levels), factor.codes)
    return replace(factor, levels=(*factor.levels, "unknown"), codes=codes)


def _coefficients(fit: ClusteredFit, kept: NDArray[np.bool_], context: _Context) -> pd.DataFrame:
    """Return the coefficients of the context's terms (the last columns of the model) that were kept."""
    told = kept[len(kept) - len(context.terms) :]
    found = fit.contrasts(np.eye(len(kept))[len(kept) - len(told) :][told][:, kept])
    carried = context.carried[told]
    return pd.DataFrame(
        {
            "term": [term for term, there in zip(context.terms, told, strict=True) if there],
            "estimate": found.estimates,
            **{
                key: np.where(carried, values, np.nan)
                for key, values in (("se", found.errors), ("degrees", found.degrees), ("p", found.p()))
            },
        }
    )


def _notes(sample: Sample, context: _Context, told: NDArray[np.bool_]) -> tuple[str, ...]:
    notes = []
    dropped = [term for term, there in zip(context.terms, told, strict=True) if not there]
    if sample.run.words is None:
        notes.append("Opinions of topics are not known here, so scores are not adjusted for them.")
    if context.left_out:
        count = int((~context.rows).sum())
        those = counted(count, "conversation")
        notes.append(
            f"The adjusted scores leave out {those}, because fewer than {FEWEST_CARRIERS} workers had one "
            f"of this kind: {'; '.join(context.left_out)}."
        )
    elif not context.carried.all():
        notes.append(
            f"What fewer than {FEWEST_CARRIERS} workers carry has neither a standard error nor a p-value."
        )
    if dropped:
        notes.append(
            "Not told apart from the systems or from other terms, and left out of the model: "
            f"{'; '.join(dropped)}."
        )
    return tuple(notes)
