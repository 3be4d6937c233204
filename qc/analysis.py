"""Analyse a run: compute the results of each section of its report, one after the other."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from qc.errors import about_run
from qc.method.filter import nobody_passed, not_judged, untested
from qc.method.sample import COMMON_MAXIMUM, Sample, has_one_scale, pass_rates, require_competing, take_sample
from qc.method.scores import Scores, score
from qc.method.workload import cost, minutes_per_conversation, workload
from qc.options import MOST_COMPARED, OF_PAIRS, SECTIONS, AnalysisOptions, OnStep, no_step
from qc.run import Run
from qc.sections import SECTIONS as SECTIONS_OF_REPORT
from qc.sections.analysis import Analysis
from qc.sections.section import Part
from qc.signature import published_hash, signature
from qc.table import counted
from qc.transcripts.judgments import take_judgments

__all__ = ["SAME_DATA", "SECTIONS", "Analysis", "AnalysisOptions", "analyse", "steps"]

SAME_DATA = "The two runs are the same data, so their agreement says nothing about replication."

# Above this level, so many workers who rate at random pass that a note tells readers.
LAX = 0.2

# Results without an option come first, then those of each option in the order of `--help`.
_PLACES = {option: place for place, option in enumerate(SECTIONS)}
PARTS: tuple[Part[Any], ...] = tuple(
    sorted(
        (part for section in SECTIONS_OF_REPORT for part in section.parts),
        key=lambda part: -1 if part.option is None else _PLACES[part.option],
    )
)


def steps(options: AnalysisOptions, replicating: bool) -> int:
    """Return how often `analyse` calls `on_step`; `replicating`: whether there is a second run."""
    return 1 + len(_requested(options, replicating))


def _requested(options: AnalysisOptions, replicating: bool) -> frozenset[str]:
    return options.sections if replicating else options.sections - {"replication"}


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
    on_step("Who is kept, and the scores")
    sample, second = _samples(run, other, options.alpha)
    scores = score(sample)
    left_out = options.sections & OF_PAIRS if len(scores.z) > MOST_COMPARED else frozenset()
    analysis = Analysis(
        run=run,
        options=options,
        signature=signature(
            run,
            alpha=options.alpha,
            seed=options.seed,
            bootstrap=options.bootstrap,
            second=other,
            reward=options.reward,
            margins=options.margins,
            fee=options.fee,
            dialogues=options.dialogues,
        ),
        sample=sample,
        second=second,
        rates=pass_rates(sample),
        minutes=minutes_per_conversation(sample),
        workload=workload(sample),
        cost=cost(sample, options.reward, options.fee),
        scores=scores,
    )
    for part in _announced(_requested(options, second is not None), on_step):
        if part.option in left_out or (part.of_chats and not analysis.chatted):
            continue
        if (found := part.make(analysis)) is not None:
            analysis = analysis.having(found)
    notes = (
        *run.notes,
        *_notes(analysis, "first"),
        *_scales(run),
        *_gaps(sample, scores),
        *_same_data(run, other),
        *_left_out(len(scores.z), left_out),
        *_notes(analysis, "last"),
    )
    return replace(analysis, notes=notes)


def _announced(requested: frozenset[str], on_step: OnStep) -> Iterator[Part[Any]]:
    """Yield the parts to compute; call `on_step` before the first one of each option."""
    begun: set[str] = set()
    for part in PARTS:
        if part.option is None:
            yield part
        elif part.option in requested:
            if part.option not in begun:
                begun.add(part.option)
                on_step(SECTIONS[part.option][:1].upper() + SECTIONS[part.option][1:])
            yield part


def _notes(analysis: Analysis, place: str) -> Iterator[str]:
    """Yield the notes on the results that have this place."""
    for part in PARTS:
        if part.notes_place == place:
            yield from part.notes_of(analysis)


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
    if alpha > LAX and sample.screening.has_test:
        notes.append(
            f"The filter is lax: at α = {alpha:g}, about {alpha:.0%} of those who rate at random pass it."
        )
    if run.partial:
        notes.append("Assignments that were not completed take part with what was rated (--include-partial).")
    if (free := untested(sample.screening)) is not None:
        notes.append(free)
    if (why := nobody_passed(run, sample.screening)) is not None:
        notes.append(why)
    else:
        unscored = scores.z.loc[scores.z["n"] == 0, "system"]
        if len(unscored):
            notes.append(f"Without a kept conversation, so without a score: {', '.join(unscored)}.")
    if (alone := not_judged(run, sample.screening)) is not None:
        notes.append(alone)
    unknown = int(run.assignments["seconds"].isna().sum())
    if unknown:
        notes.append(
            f"Working time unknown, so not in the minutes per conversation: {counted(unknown, 'assignment')}."
        )
    return notes
