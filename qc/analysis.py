"""Analyse a run: compute the sections of its report, one after the other."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain
from typing import TypeVar

from qc.answers import AnswerCounts, count_answers
from qc.errors import about_run
from qc.groups import WhoseOpinion, whose_opinion
from qc.method.agreement import Agreement, rater_agreement
from qc.method.effort import Effort, describe_effort
from qc.method.filter import nobody_passed
from qc.method.incidents import Incidents, Served, describe_incidents, describe_served
from qc.method.pass_rate import PassRates, pass_rates
from qc.method.quiz import QuizResults, describe_quiz
from qc.method.replication import Replication, replicate
from qc.method.sample import Sample, require_competing, take_sample
from qc.method.scenarios import ScenarioScores, score_scenarios
from qc.method.scores import Ceiling, CriteriaCorrelation, Scores, correlate_criteria, find_ceiling, score
from qc.method.significance import Significance, compare_systems
from qc.method.standardise import COMMON_MAXIMUM, has_one_scale
from qc.method.topics import Topics, describe_topics
from qc.method.turn_ratings import TurnRatings, describe_turn_ratings
from qc.method.workload import Cost, Minutes, Workload, cost, minutes_per_conversation, workload
from qc.options import MOST_COMPARED, OF_PAIRS, SECTIONS, AnalysisOptions
from qc.progress import OnStep, no_step
from qc.registration import Followed
from qc.robustness.adjusted import Adjusted, adjust
from qc.robustness.alpha import AlphaInfluence, alpha_influence
from qc.robustness.clusters import Clusters, cluster
from qc.robustness.context import ContextEffects, context_effects
from qc.robustness.filter_check import FilterCheck, check_filter
from qc.robustness.forecast import ReplicationForecast, forecast
from qc.robustness.intervals import Draws, Intervals, draw, intervals
from qc.robustness.persona import PersonaEffect, persona_effect
from qc.robustness.writing import WritingResults, describe_writing
from qc.run import Run
from qc.signature import published_hash, signature
from qc.transcripts.filter import not_judged
from qc.transcripts.judgments import take_judgments
from qc.transcripts.results import TranscriptResults, describe_transcripts

__all__ = ["SAME_DATA", "SECTIONS", "Analysis", "AnalysisOptions", "analyse", "steps"]

SAME_DATA = "The two runs are the same data, so their agreement says nothing about replication."

# Above this level, so many workers who rate at random pass that a note tells readers.
LAX = 0.2

T = TypeVar("T")


@dataclass(frozen=True)
class Analysis:
    """All results of one run. `notes` holds the run's notes and those that follow from the results.

    The result of a section is None if the section was not requested, or if the run has no data for it. These
    results are None if:

    - `incidents`: the source has no record of incidents.
    - `served`: the source does not say which models answered.
    - `answers`: the study asked no questions of its own.
    - `quiz`: the study has no quiz after conversations.
    - `writing`: it was not recorded how workers wrote.
    - `turn_ratings`: the study did not ask for ratings of single replies.
    - `scenarios`: the study has no scenarios.
    - `ceiling`: no system is a person.
    - `preregistration`: none was given (`qc.adherence`).
    """

    run: Run
    options: AnalysisOptions
    signature: str
    sample: Sample
    rates: PassRates
    minutes: Minutes
    workload: Workload
    cost: Cost
    scores: Scores
    incidents: Incidents | None
    served: Served | None
    answers: AnswerCounts | None
    quiz: QuizResults | None
    writing: WritingResults | None
    turn_ratings: TurnRatings | None
    scenarios: ScenarioScores | None
    ceiling: Ceiling | None
    notes: tuple[str, ...]
    significance: Significance | None
    clusters: Clusters | None
    intervals: Intervals | None
    forecast: ReplicationForecast | None
    replication: Replication | None
    criteria: dict[str, CriteriaCorrelation] | None
    agreement: Agreement | None
    filter_check: FilterCheck | None
    alpha: AlphaInfluence | None
    persona: PersonaEffect | None
    context: ContextEffects | None
    adjusted: Adjusted | None
    topics: Topics | None
    effort: Effort | None
    groups: WhoseOpinion | None
    transcripts: TranscriptResults | None
    preregistration: Followed | None = None


def steps(options: AnalysisOptions, replicating: bool) -> int:
    """Return how often `analyse` calls `on_step`; `replicating`: whether there is a second run."""
    sections = options.sections if replicating else options.sections - {"replication"}
    return 1 + len(sections)


def analyse(
    run: Run, options: AnalysisOptions | None = None, other: Run | None = None, on_step: OnStep = no_step
) -> Analysis:
    """Return the results of `run`.

    Args:
        run: the run to analyse.
        options: the options; None for the defaults.
        other: a second run of the same experiment, to correlate with.
        on_step: called with a description when a section begins.

    Raises:
        EmptyRunError: no worker can be tested, or all systems are people or the QC bot.
        ReplicationError: the second run has too little in common with the first.
    """
    options = options or AnalysisOptions()
    seed = options.seed
    on_step("Who is kept, and the scores")
    sample, second = _samples(run, other, options.alpha)
    scores = score(sample)
    left_out = options.sections & OF_PAIRS if len(scores.z) > MOST_COMPARED else frozenset()

    @cache
    def draws() -> Draws:
        return draw(sample, scores, options.bootstrap, seed)

    def part(section: str, make: Callable[[], T]) -> T | None:
        """Return the result of `make`, or None if the section was not requested or is left out."""
        if section not in options.sections:
            return None
        on_step(SECTIONS[section][:1].upper() + SECTIONS[section][1:])
        return None if section in left_out else make()

    chatted = run.items is None
    incidents, served = describe_incidents(run), describe_served(run)
    scenarios = score_scenarios(sample, scores, options.bootstrap, seed)
    significance = part("significance", lambda: compare_systems(sample, scores))
    results = Analysis(
        run=run,
        options=options,
        signature=signature(
            run,
            alpha=options.alpha,
            seed=seed,
            bootstrap=options.bootstrap,
            second=other,
            reward=options.reward,
            margins=options.margins,
            fee=options.fee,
        ),
        sample=sample,
        rates=pass_rates(sample),
        minutes=minutes_per_conversation(sample),
        workload=workload(sample),
        cost=cost(sample, options.reward, options.fee),
        scores=scores,
        incidents=incidents,
        served=served,
        answers=count_answers(run),
        quiz=describe_quiz(sample) if chatted else None,
        writing=describe_writing(sample, scores, options.bootstrap, seed) if chatted else None,
        turn_ratings=describe_turn_ratings(sample, scores, options.bootstrap, seed),
        scenarios=scenarios,
        ceiling=find_ceiling(sample, scores),
        notes=(
            *run.notes,
            *(incidents.notes if incidents else ()),
            *(served.notes if served else ()),
            *_scales(run),
            *_gaps(sample, scores),
            *_same_data(run, other),
            *_left_out(len(scores.z), left_out),
            *(scenarios.notes if scenarios else ()),
        ),
        significance=significance,
        clusters=cluster(significance) if significance else None,
        intervals=part("intervals", lambda: intervals(sample, scores, options.bootstrap, seed)),
        forecast=part("forecast", lambda: forecast(sample, scores, seed)),
        replication=part("replication", lambda: replicate(sample, second)) if second else None,
        criteria=part("criteria", lambda: correlate_criteria(scores)),
        agreement=part("agreement", lambda: rater_agreement(sample, seed) if chatted else None),
        filter_check=part("filter", lambda: check_filter(sample, scores, seed) if chatted else None),
        alpha=part("alpha", lambda: alpha_influence(sample, scores, second)),
        persona=part("persona", lambda: persona_effect(sample, scores)),
        context=part("context", lambda: context_effects(sample) if chatted else None),
        adjusted=adjust(sample, scores) if "context" in options.sections and chatted else None,
        topics=part("topics", lambda: describe_topics(sample)),
        effort=part("effort", lambda: describe_effort(sample)),
        groups=part("groups", lambda: whose_opinion(sample, scores, options.margins, seed)),
        transcripts=part("transcripts", lambda: describe_transcripts(sample, scores, seed)),
    )
    more = [
        part.notes for part in (results.intervals, results.groups, results.transcripts) if part is not None
    ]
    return replace(results, notes=(*results.notes, *chain(*more)))


def _left_out(systems: int, sections: frozenset[str]) -> Iterator[str]:
    if sections:
        yield (
            f"The run has {systems:,} systems. Every two of at most {MOST_COMPARED} are compared, so these "
            f"sections are left out: {', '.join(sorted(sections))}."
        )


def _samples(run: Run, other: Run | None, alpha: float) -> tuple[Sample, Sample | None]:
    """Return the samples of `run` and of `other`, if given; with two runs, an error names its run."""
    if other is None:
        return sample_of(run, alpha), None
    with about_run(run.name):
        first = sample_of(run, alpha)
    with about_run(other.name):
        return first, sample_of(other, alpha)


def sample_of(run: Run, alpha: float) -> Sample:
    """Return the sample of `run` at level `alpha`, by the method for its task.

    Raises:
        EmptyRunError: no worker can be tested, or no system competes.
    """
    sample = take_sample(run, alpha) if run.items is None else take_judgments(run, alpha)
    require_competing(run)
    return sample


def _scales(run: Run) -> list[str]:
    if has_one_scale(run):
        return []
    ends = ", ".join(f"{row.label} at {row.maximum:g}" for row in run.criteria.itertuples())
    return [
        f"The scales of the criteria end at different maxima ({ends}), so all ratings were put on 0 to "
        f"{COMMON_MAXIMUM:g}, for the filter and for all scores."
    ]


def _same_data(run: Run, other: Run | None) -> list[str]:
    # Hashing is slow, so only runs of the same size are hashed.
    if other is None or run.ratings.shape != other.ratings.shape:
        return []
    return [SAME_DATA] if published_hash(run) == published_hash(other) else []


def _gaps(sample: Sample, scores: Scores) -> list[str]:
    run, notes, alpha = sample.run, [], sample.screening.alpha
    if alpha > LAX:
        notes.append(
            f"The filter is lax: at α = {alpha:g}, about {alpha:.0%} of those who rate at random pass it."
        )
    if run.partial:
        notes.append("Assignments that were not completed take part with what was rated (--include-partial).")
    if (why := nobody_passed(run, sample.screening)) is not None:
        notes.append(why)
    else:
        unscored = scores.z.loc[scores.z["n"] == 0, "system"]
        if len(unscored):
            notes.append(f"Without a kept conversation, so without a score: {', '.join(unscored)}.")
    if run.items is not None and (alone := not_judged(sample.screening)) is not None:
        notes.append(alone)
    unknown = int(run.assignments["seconds"].isna().sum())
    if unknown:
        notes.append(f"Working time unknown, so not in the minutes per conversation: {unknown} assignments.")
    return notes
