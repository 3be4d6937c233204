"""Results that a report has only for a run of transcripts."""

from dataclasses import dataclass

from qc.method.sample import Sample
from qc.method.scores import Scores
from qc.method.workload import Minutes, minutes_per_assignment
from qc.run import Run
from qc.transcripts.controls import (
    Controls,
    Coverage,
    Repeats,
    describe_controls,
    describe_coverage,
    describe_repeats,
)
from qc.transcripts.edits import Conventions, Edits, compare_conventions, describe_edits
from qc.transcripts.filter import ChancePasses, chance_passes
from qc.transcripts.two_way import TwoWay, errors_two_ways


@dataclass(frozen=True)
class TranscriptResults:
    """Results of a run of transcripts besides scores. A part is None if the run has no data for it."""

    conventions: Conventions
    coverage: Coverage
    controls: Controls
    chance_passes: ChancePasses
    repeats: Repeats | None
    edits: Edits | None
    errors: TwoWay
    minutes_per_assignment: Minutes

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences that a reader must see."""
        return (*self.coverage.notes, *self.chance_passes.notes, *self.controls.notes)


def describe_transcripts(sample: Sample, scores: Scores, seed: int) -> TranscriptResults | None:
    """Return the results of a run of transcripts; None if its workers chatted."""
    run: Run = sample.run
    if run.items is None:
        return None
    return TranscriptResults(
        conventions=compare_conventions(run, sample, scores),
        coverage=describe_coverage(sample),
        controls=describe_controls(run, sample),
        chance_passes=chance_passes(sample, seed),
        repeats=describe_repeats(run, sample.screening),
        edits=describe_edits(run, sample, scores),
        errors=errors_two_ways(sample, scores),
        minutes_per_assignment=minutes_per_assignment(sample),
    )
