"""Convert ratings of items to judgments: one value per worker and ordinary item.

Source: Ji, PhD thesis, chapters 3 and 4. A repeat is averaged with its item; bad twins and references never
count. z is over all ratings of a worker, as in chapter 3; chapter 4 excludes bad twins from mean and standard
deviation. The thesis gives no divisor; here it is n - 1, as for conversations. In a run without bad twins,
workers whose ratings are all the same count, too. Their z is 0, as by the formula of the authors' code.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from qc.method.filter import Screening
from qc.method.sample import Sample, oriented, standardise
from qc.run import Run, codes
from qc.transcripts.filter import items_of, of_kind, screen_raters, twins


def take_judgments(run: Run, alpha: float = 0.05) -> Sample:
    """Screen the workers of a run of transcripts at level `alpha`, standardise, and return its judgments.

    Raises:
        OptionError: `alpha` is not strictly between 0 and 1.
        EmptyRunError: no worker can be tested.
    """
    scores = oriented(run)
    screening = screen_raters(run, scores, alpha)
    workers = codes(run.conversations["worker"])
    rows = np.flatnonzero(of_kind(run, "ordinary"))
    return Sample(
        run=run,
        screening=screening,
        workers=workers[rows],
        systems=codes(run.conversations["system"])[rows],
        is_qc=np.zeros(len(rows), bool),
        raw=judged(run, scores),
        z=judged(run, standardised(scores, workers, screening)),
        items=codes(items_of(run)["item"])[rows],
    )


def standardised(
    scores: NDArray[np.float64], workers: NDArray[np.intp], screening: Screening
) -> NDArray[np.float64]:
    """Return z; for workers whose ratings are all the same it is 0 in a run without a test, else NaN."""
    z = standardise(scores, workers, len(screening.workers))
    return z if screening.has_test else np.nan_to_num(z)


def without_bad(run: Run, sample: Sample) -> Sample:
    """Return `sample`, the judgments of `run`, with mean and sd of z without ratings of bad twins."""
    scores, others = oriented(run), ~of_kind(run, "bad")
    workers, z = codes(run.conversations["worker"]), np.full(scores.shape, np.nan)
    z[others] = standardised(scores[others], workers[others], sample.screening)
    return replace(sample, z=judged(run, z))


def unedited(run: Run) -> NDArray[np.float64] | None:
    """Return the share of each ordinary item that its worker left as it was; None if nobody edited any.

    Source: Chaganty, Mussmann and Liang, *The price of debiasing automatic metrics in natural language
    evaluation*, ACL 2018, section 4: one less edited words over length, at least 0. An unchanged text is 1.
    """
    given = items_of(run)["edit_share"].to_numpy(np.float64) if run.items is not None else np.array([np.nan])
    if not np.isfinite(given).any():
        return None
    return judged(run, 1 - np.minimum(np.nan_to_num(given), 1)[:, None])[:, 0]


def judged(run: Run, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the values of the ordinary items, each averaged with its repeats.

    Args:
        run: a run of transcripts.
        values: (presentations, V).

    Returns:
        (presentations of ordinary items, V), in the order of the run.
    """
    rows, pairs = np.flatnonzero(of_kind(run, "ordinary")), twins(run, "repeat")
    total, times = values.copy(), np.ones(len(values))
    np.add.at(total, pairs.ordinary, values[pairs.control])
    np.add.at(times, pairs.ordinary, 1)
    return np.asarray((total / times[:, None])[rows])
