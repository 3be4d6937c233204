"""Pass rates: workers, HITs, assignments and conversations with the systems."""

from dataclasses import dataclass

from qc.method.sample import Sample
from qc.run import codes


@dataclass(frozen=True, slots=True)
class Count:
    """A total, and the part of it from workers who passed."""

    passed: int
    total: int

    @property
    def rate(self) -> float:
        """The share that passed, from 0 to 1."""
        return self.passed / self.total


@dataclass(frozen=True, slots=True)
class PassRates:
    """Counts of a run, with the part from workers who passed.

    `hits` counts distinct HIT ids among the passed and among the failed, as the authors' `passrate.csv`
    does: a HIT done by workers of both kinds counts in both. `conversations` does not count conversations
    with the QC bot; in a run of transcripts it counts judgments.
    """

    workers: Count
    hits: Count
    assignments: Count
    conversations: Count


def pass_rates(sample: Sample) -> PassRates:
    """Return the counts of the run."""
    run, screening = sample.run, sample.screening
    workers = screening.workers["passed"].to_numpy(bool)
    assignments = screening.keeps(codes(run.assignments["worker"]))
    hits = run.assignments["hit"]
    passed_hits, failed_hits = hits[assignments].nunique(), hits[~assignments].nunique()
    return PassRates(
        workers=Count(int(workers.sum()), len(workers)),
        hits=Count(passed_hits, passed_hits + failed_hits),
        assignments=Count(int(assignments.sum()), len(assignments)),
        conversations=Count(int(sample.counted.sum()), int(sample.competes.sum())),
    )
