"""The chain from a run to its results: filter, standardise, score, count."""

from dataclasses import dataclass

from qc.method.duration import Minutes, minutes_per_conversation
from qc.method.filter import Screening
from qc.method.pass_rate import PassRates, pass_rates
from qc.method.sample import Sample, take_sample
from qc.method.scores import Scores, score
from qc.run import Run
from qc.signature import signature


@dataclass(frozen=True)
class Analysis:
    """All results of one run. `notes` are the run's own and those that follow from the results."""

    run: Run
    signature: str
    sample: Sample
    rates: PassRates
    minutes: Minutes
    scores: Scores
    notes: tuple[str, ...]


def analyse(run: Run, alpha: float = 0.05) -> Analysis:
    """Return the results of `run`, with workers filtered at level `alpha`.

    Raises:
        OptionError: `alpha` is not strictly between 0 and 1.
        EmptyRunError: no worker can be tested.
    """
    sample = take_sample(run, alpha)
    scores = score(sample)
    return Analysis(
        run=run,
        signature=signature(run, alpha),
        sample=sample,
        rates=pass_rates(sample),
        minutes=minutes_per_conversation(sample),
        scores=scores,
        notes=(*run.notes, *_gaps(run, sample.screening, scores)),
    )


def _gaps(run: Run, screening: Screening, scores: Scores) -> list[str]:
    notes = []
    if run.partial:
        notes.append("Assignments that were not completed take part with what was rated (--include-partial).")
    if not screening.workers["passed"].any():
        notes.append("No worker passed, so no system has a score.")
    else:
        unscored = scores.z.loc[scores.z["n"] == 0, "system"]
        if len(unscored):
            notes.append(f"Without a kept conversation, so without a score: {', '.join(unscored)}.")
    unknown = int(run.assignments["seconds"].isna().sum())
    if unknown:
        notes.append(f"Working time unknown, so not in the minutes per conversation: {unknown} assignments.")
    return notes
