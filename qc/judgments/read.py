"""Read judgments from any source, a plain CSV or a run of Candor, with their metrics, and remark on them.

In a run of conversations each one is an output, judged once, by the worker who chatted. Conversations of the
same workers that the server left unrated are unjudged outputs: with their metrics they extend the pool.
Judgments are in order of submission if the source has the times, else by assignment.

In a run of transcripts each item is an output, judged by several workers. A worker's judgment is the mean of
the item and its repeat; control items are not judgments. An item that is a conversation has the
conversation's name.

As in the report, only workers who passed the filter count, and higher is better for all scores. A worker's z
is over all their ratings, on all criteria and including the QC bot. There is also the mean of the criteria,
`overall`. Where workers improved texts there is `unedited`: the share of a text that a worker left as it was,
on the same scale, so that editing can be compared with rating (Chaganty et al., section 4).
"""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.errors import EmptyRunError, SourceError
from qc.formats.published import ANSWER
from qc.judgments.assembly import (
    HEADINGS,
    ITEM,
    OUTPUT,
    PROBABILITY,
    SYSTEM,
    CsvTable,
    cleaned_table,
    probabilities_of,
)
from qc.judgments.judgments import Judgments
from qc.judgments.plain import from_tables, metric_outputs
from qc.loading import LoadOptions, open_source, read_run
from qc.loading.source import RunFile, Source
from qc.loading.tables import heading_of, parse_table, read_table
from qc.method.filter import nobody_passed
from qc.method.sample import Sample, require_competing, scale_maximum
from qc.run import Run, codes
from qc.table import OVERALL, counted, whole

UNEDITED = "unedited"


def from_sample(sample: Sample, metrics: CsvTable | None) -> Judgments:
    """Return the counted conversations or items of a run as judgments; unrated ones join the pool.

    Raises:
        DataError: the metric file does not match the run.
        EmptyRunError: no worker passed, or no system competes, so no conversation or item counts.
    """
    require_competing(sample.run)
    if (why := nobody_passed(sample.run, sample.screening)) is not None:
        raise EmptyRunError(f"{sample.run.source}: {why} There is nothing to estimate from yet.")
    counted = _in_order(sample)
    judged = _judged(sample.run).iloc[counted].reset_index(drop=True)
    labels, raw, by_worker = _scores(sample)
    rated = judged.drop_duplicates("output", ignore_index=True)[["output", "system"]]
    unrated = _unrated(sample)
    once = pd.concat([rated, unrated], ignore_index=True)
    outputs = pd.DataFrame(
        {
            OUTPUT: once["output"].astype("str"),
            ITEM: once["output"].astype("str"),
            SYSTEM: once["system"].astype("str"),
        }
    )
    found = pd.DataFrame(index=outputs.index)
    if metrics is not None:
        named = _named_as_in_a_run(metrics)
        outputs, found = metric_outputs(named, outputs, found, np.arange(len(once)) < len(rated))
    drawn = _probabilities(sample, counted, judged)
    # Those in a file of metrics are of what was planned; the run knows what was done.
    outputs = outputs.drop(columns=PROBABILITY, errors="ignore")
    if drawn is not None:
        outputs[PROBABILITY] = outputs[OUTPUT].map(drawn)
    at = pd.Index(outputs[OUTPUT]).get_indexer(pd.Index(judged["output"]))
    values, z = raw[counted], by_worker[counted]
    each = len(labels)
    workers = judged["worker"].cat.remove_unused_categories()
    rows = pd.DataFrame(
        {
            "output": np.repeat(at, each),
            "worker": pd.Categorical.from_codes(
                np.repeat(workers.cat.codes.to_numpy(), each), categories=workers.cat.categories
            ),
            "criterion": pd.Categorical(np.tile(labels, len(at)), categories=labels),
            "value": values.ravel(),
            "z": z.ravel(),
            "position": np.repeat(judged["position"].to_numpy(np.float64), each),
        }
    )
    systems = sample.run.systems
    names = tuple(systems.loc[sample.run.competing, "system"])
    return Judgments(
        source=sample.run.source,
        systems=names,
        outputs=outputs.drop(columns=SYSTEM),
        belongs=outputs[SYSTEM].to_numpy()[:, None] == np.asarray(names),
        metrics=found,
        rows=rows,
        notes=(*sample.run.notes, *_pool_notes(len(unrated), known=metrics is not None)),
        ends=(0.0, scale_maximum(sample.run)),
        in_order=sample.run.ended is not None,
        probabilities=probabilities_of(sample.run.source, outputs, np.unique(at)),
    )


def _named_as_in_a_run(metrics: CsvTable) -> CsvTable:
    """Return metrics with the name that a run gives to the text of an item and a system."""
    cells = metrics.cells
    if OUTPUT in cells or ITEM not in cells or SYSTEM not in cells:
        return metrics
    return replace(metrics, cells=cells.assign(**{OUTPUT: cells[ITEM] + " " + cells[SYSTEM]}))


def _probabilities(sample: Sample, counted: NDArray[np.intp], judged: pd.DataFrame) -> pd.Series | None:
    """Return the probability with which each rated output was drawn, by its name; None if all were to be."""
    facts = sample.run.facts
    if sample.run.items is None or facts is None or PROBABILITY not in facts:
        return None
    ordinary = facts[sample.run.items["kind"].eq("ordinary").to_numpy(bool)]
    of_output = pd.Series(ordinary[PROBABILITY].to_numpy(np.float64)[counted], judged["output"].to_numpy())
    return of_output[~of_output.index.duplicated()]


def _scores(sample: Sample) -> tuple[list[str], NDArray[np.float64], NDArray[np.float64]]:
    """Return the C names of what is judged, the values and their z, both (rows of the sample, C)."""
    # Slow to import, and not needed for plain files.
    from qc.transcripts.judgments import standardised, unedited  # noqa: PLC0415

    labels = [OVERALL, *sample.run.criteria["label"]]
    raw = np.column_stack([sample.overall["raw"], sample.raw])
    z = np.column_stack([sample.overall["z"], sample.z])
    kept = unedited(sample.run)
    if kept is None:
        return labels, raw, z
    value = scale_maximum(sample.run) * kept
    of_worker = standardised(value[:, None], sample.workers, sample.screening)
    return [*labels, UNEDITED], np.column_stack([raw, value]), np.column_stack([z, of_worker])


def _in_order(sample: Sample) -> NDArray[np.intp]:
    """Return the counted rows, in order of submission of their assignments."""
    rows = np.flatnonzero(sample.counted)
    if sample.run.ended is None:
        return rows
    ended = sample.run.ended.to_numpy("datetime64[ns]")
    assignments = codes(_judged(sample.run)["assignment"])
    return rows[np.argsort(ended[assignments[rows]], kind="stable")]


def _unrated(sample: Sample) -> pd.DataFrame:
    """Return `output`, `system` of the unrated conversations of workers who passed."""
    if sample.run.unrated is None:
        return pd.DataFrame({"output": [], "system": []}, dtype="str")
    rows = sample.run.unrated.conversations.rename(columns={"conversation": "output"})
    passed = sample.screening.keeps(codes(rows["worker"])) & ~rows["system"].isin(sample.run.people)
    return rows.loc[passed, ["output", "system"]]


def _pool_notes(unrated: int, *, known: bool) -> list[str]:
    if not unrated:
        return []
    remedy = "" if known else " Score them by `candor metrics`, and give what it writes to --metrics."
    return [
        f"{counted(unrated, 'conversation')} of the workers who passed {'was' if unrated == 1 else 'were'} "
        f"left unrated, drawn at random. Nobody judged them; with a metric they are the pool.{remedy}"
    ]


def _judged(run: Run) -> pd.DataFrame:
    """Return the rows of a sample of `run`: `output`, `system`, `worker`, `position`, `assignment`."""
    rows = run.conversations.rename(columns={"conversation": "output"})
    if run.items is not None:
        rows = rows.assign(output=run.items["output"])[run.items["kind"].eq("ordinary").to_numpy(bool)]
    return rows[["output", "system", "worker", "position", "assignment"]]


@dataclass(frozen=True)
class Selection:
    """What to read from a source of judgments.

    Attributes:
        metrics: file with metrics of the outputs; None if there is no such file.
        run: slug or id of a run, if the source is a database that holds several.
        alpha: level of quality control for a run.
        where: a column of the outputs and the required text; None for all outputs. A worker's z is still over
            all their judgments, including other outputs.
    """

    metrics: Path | None = None
    run: str | None = None
    alpha: float = 0.05
    where: tuple[str, str] | None = None


def read_judgments(source: str, selection: Selection | None = None) -> Judgments:
    """Return the judgments that `source` holds, with their metrics.

    Args:
        source: path of a plain CSV of judgments, or any source of `qc.loading`: a run of Candor in a database
            or an export, a hits_data.json, an MTurk batch CSV.
        selection: what to read from it; None for the defaults.

    Raises:
        QcError: as `qc.loading.read_run`, or a plain file is invalid; the error lists all problems.
    """
    selection = selection or Selection()
    metrics = None if selection.metrics is None else _opened_csv(selection.metrics)
    with open_source(source) as opened:
        if isinstance(opened, RunFile) and _is_plain(opened):
            table = parse_table(str(opened.path), opened.file.read(), HEADINGS)
            found = from_tables(cleaned_table(str(opened.path), table), metrics)
        else:
            found = _of_run(opened, selection, metrics)
    return remarks(found if selection.where is None else found.where(*selection.where))


def _of_run(source: Source, selection: Selection, metrics: CsvTable | None) -> Judgments:
    # Slow to import, and not needed for plain files.
    from qc.method.sample import take_sample  # noqa: PLC0415
    from qc.transcripts.judgments import take_judgments  # noqa: PLC0415

    run = read_run(source, LoadOptions(selection.run, words=False))
    take = take_sample if run.items is None else take_judgments
    return from_sample(take(run, selection.alpha), metrics)


def _is_plain(file: RunFile) -> bool:
    """Return whether a file is a CSV, and not one from MTurk."""
    heading = heading_of(file.file.peek(1 << 16))
    return heading is not None and ANSWER.casefold() not in heading.casefold()


def _opened_csv(path: Path) -> CsvTable:
    try:
        return cleaned_table(str(path), read_table(path, HEADINGS))
    except OSError as error:
        raise SourceError(
            f"{path}: the file cannot be read ({error.strerror or error}). Check the path."
        ) from None


# A worker with all values within 0 and 1 uses another scale than one with values beyond this.
FAR_BEYOND_ONE = 5.0
FEWEST_OF_A_WORKER = 5
# Share of workers for a warning about two scales; a few workers may just use the lowest end.
MANY = 0.1


def remarks(judgments: Judgments) -> Judgments:
    """Return the judgments with these remarks added to their notes."""
    found = (
        *_drawn(judgments),
        *_once_judged(judgments),
        *_uneven(judgments),
        *_unknown_workers(judgments),
        *_several_scales(judgments),
        *_two_scales(judgments),
        *_unjudged_systems(judgments),
        *_gaps_in_metrics(judgments),
    )
    return replace(judgments, notes=(*judgments.notes, *found))


def _counts(judgments: Judgments) -> pd.Series:
    """Count the judgments of each judged output on each criterion."""
    return judgments.rows.groupby(["output", "criterion"], observed=True).size()


def _drawn(judgments: Judgments) -> list[str]:
    if judgments.probabilities is None:
        return []
    return [
        "Outputs were drawn by probabilities to be judged, and `candor estimate` weighs them by the inverse. "
        "What treats them alike is left out: r, γ, the curve of widths, resampling, and intervals that may "
        "be looked at any time."
    ]


def _once_judged(judgments: Judgments) -> list[str]:
    if (_counts(judgments) > 1).any():
        return []
    return [
        "Every output has one judgment only, so the spread of the outputs and that of the workers cannot be "
        "told apart, and γ and ρ are not estimable; the data efficiency is."
    ]


def _uneven(judgments: Judgments) -> list[str]:
    counts = _counts(judgments)
    low, high = int(counts.min()), int(counts.max())
    if low == high:
        return []
    return [
        f"Outputs have {low} to {high} judgments on a criterion. Each judgment then counts as one where "
        "workers are compared, and each output as one where a metric is."
    ]


def _unknown_workers(judgments: Judgments) -> list[str]:
    unknown = judgments.rows["worker"].isna()
    if not unknown.any():
        return []
    return [
        f"Of {counted(unknown.sum(), 'judgment')} the worker is unknown: there is no interval that respects "
        "workers, and no z per worker. Add a column `worker` if you can."
    ]


def _several_scales(judgments: Judgments) -> list[str]:
    if judgments.ends is not None:  # one scale for all criteria, wherever their values lie on it
        return []
    ends = judgments.rows.groupby("criterion", observed=True)["value"].agg(["min", "max"])
    if len(ends) < 2 or (ends == ends.iloc[0]).all(axis=None):
        return []
    said = ", ".join(f"{row.Index} {row.min:g} to {row.max:g}" for row in ends.itertuples())
    return [f"The criteria were judged on different ranges ({said}), so each is estimated by itself."]


def _two_scales(judgments: Judgments) -> list[str]:
    """Return a warning for each criterion that workers seem to judge on two scales."""
    rows = judgments.rows[judgments.rows["worker"].notna()]
    by_worker = rows.groupby(["criterion", "worker"], observed=True)["value"].agg(["min", "max", "size"])
    by_worker = by_worker[by_worker["size"] >= FEWEST_OF_A_WORKER]
    notes = []
    for criterion, workers in by_worker.groupby(level="criterion", observed=True):
        small = (workers["min"] >= 0) & (workers["max"] <= 1) & (workers["min"] < workers["max"])
        large = workers["max"] > FAR_BEYOND_ONE
        if small.mean() >= MANY and large.mean() >= MANY:
            notes.append(
                f"{criterion}: two scales. Values of {counted(small.sum(), 'worker')} stay within 0 and 1, "
                f"while those of {whole(large.sum())} go beyond {FAR_BEYOND_ONE:g}. Put all values on one "
                "scale, or read the results per worker z."
            )
    return notes


def _unjudged_systems(judgments: Judgments) -> list[str]:
    judged = np.zeros(len(judgments.outputs), bool)
    judged[judgments.rows["output"]] = True
    belongs = judgments.belongs[judged]
    without = [name for number, name in enumerate(judgments.systems) if not belongs[:, number].any()]
    return [f"Without a judgment, so without an estimate: {', '.join(without)}."] if without else []


def _gaps_in_metrics(judgments: Judgments) -> list[str]:
    gaps = judgments.metrics.isna().sum()
    return [
        f"Without a value of {metric}, so left out where it is used: {counted(count, 'output')}."
        for metric, count in gaps.items()
        if count
    ]
