"""Results of one run: what every section starts from, and what each section adds."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Self, TypeVar, overload

from qc.answers import AnswerCounts
from qc.groups import WhoseOpinion
from qc.loading.registration import Followed
from qc.method.agreement import Agreement
from qc.method.incidents import Incidents, Served
from qc.method.quiz import QuizResults
from qc.method.replication import Replication
from qc.method.reproducibility import Reproducibility
from qc.method.sample import PassRates, Sample
from qc.method.scores import Ceiling, CriteriaCorrelations, ScenarioScores, Scores, TurnRatings
from qc.method.significance import Clusters, Significance
from qc.method.topics import Topics
from qc.method.workload import Cost, Effort, Minutes, Workload
from qc.options import AnalysisOptions
from qc.robustness.context import Adjusted, ContextEffects
from qc.robustness.filter_check import AlphaInfluence, FilterCheck
from qc.robustness.forecast import ReplicationForecast
from qc.robustness.fragile_pairs import FragilePairs
from qc.robustness.fragility import Fragility
from qc.robustness.intervals import Intervals
from qc.robustness.persona import PersonaEffect
from qc.robustness.style import StyleControl
from qc.robustness.topic_areas import TopicAreas
from qc.robustness.writing import WritingResults
from qc.run import Run
from qc.transcripts.reference_length import ReferenceLengths
from qc.transcripts.results import TranscriptResults

T = TypeVar("T")


class _Named(Generic[T]):
    """A name for the result of one type, so that programs can write `analysis.intervals`."""

    def __init__(self, kind: type[T]) -> None:
        self.kind = kind

    @overload
    def __get__(self, analysis: None, owner: type) -> Self: ...
    @overload
    def __get__(self, analysis: "Analysis", owner: type) -> T | None: ...
    def __get__(self, analysis: "Analysis | None", owner: type) -> Self | T | None:
        """Return the result, None if there is none."""
        return self if analysis is None else analysis.of(self.kind)


@dataclass(frozen=True)
class Analysis:
    """All results of one run. `notes` holds the run's notes and those that follow from the results.

    Each section of the report adds its results (`qc.sections`), which `of` returns by their type. A result is
    None if its section was not requested, or if the run has no data for it. These results are None if:

    - `incidents`: the source has no record of incidents.
    - `served`: the source does not say which models answered.
    - `answers`: the study asked no questions of its own.
    - `quiz`: the study has no quiz after conversations.
    - `writing`: it was not recorded how workers wrote.
    - `turn_ratings`: the study did not ask for ratings of single replies.
    - `scenarios`: the study has no scenarios.
    - `ceiling`: no system is a person.
    - `preregistration`: none was given (`qc.sections.course.adherence`).
    """

    run: Run
    options: AnalysisOptions
    signature: str
    sample: Sample
    second: Sample | None
    rates: PassRates
    minutes: Minutes
    workload: Workload
    cost: Cost
    scores: Scores
    notes: tuple[str, ...] = ()
    results: Mapping[type, object] = field(default_factory=dict)

    # Names of results in the Python interface. A section of its own needs none: it uses `of`.
    incidents = _Named(Incidents)
    served = _Named(Served)
    answers = _Named(AnswerCounts)
    quiz = _Named(QuizResults)
    writing = _Named(WritingResults)
    turn_ratings = _Named(TurnRatings)
    scenarios = _Named(ScenarioScores)
    ceiling = _Named(Ceiling)
    significance = _Named(Significance)
    clusters = _Named(Clusters)
    intervals = _Named(Intervals)
    fragility = _Named(Fragility)
    fragile_pairs = _Named(FragilePairs)
    forecast = _Named(ReplicationForecast)
    replication = _Named(Replication)
    reproducibility = _Named(Reproducibility)
    criteria = _Named(CriteriaCorrelations)
    agreement = _Named(Agreement)
    filter_check = _Named(FilterCheck)
    alpha = _Named(AlphaInfluence)
    persona = _Named(PersonaEffect)
    context = _Named(ContextEffects)
    adjusted = _Named(Adjusted)
    style = _Named(StyleControl)
    topics = _Named(Topics)
    topic_areas = _Named(TopicAreas)
    effort = _Named(Effort)
    groups = _Named(WhoseOpinion)
    transcripts = _Named(TranscriptResults)
    reference_lengths = _Named(ReferenceLengths)
    preregistration = _Named(Followed)

    @property
    def chatted(self) -> bool:
        """Whether the workers chatted; otherwise they rated transcripts."""
        return self.run.items is None

    def of(self, kind: type[T]) -> T | None:
        """Return the result of the type `kind`, None if there is none."""
        found = self.results.get(kind)
        return found if isinstance(found, kind) else None

    def having(self, *results: Any) -> Self:
        """Return the analysis with these results, each in place of the one of its type."""
        return replace(self, results={**self.results, **{type(result): result for result in results}})

    def without(self, *kinds: type) -> Self:
        """Return the analysis without the results of these types."""
        return replace(self, results={key: each for key, each in self.results.items() if key not in kinds})
