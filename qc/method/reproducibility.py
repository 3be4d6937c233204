"""Degree of reproducibility of a run by a second one: QRA++.

QRA++ has a measure for each type of result, comparable between studies:

- single scores (type I): the coefficient of variation of the two scores of a system on a criterion, corrected
  for small samples, CV* = (1 + 1/(4 n)) · s* / m · 100, with n = 2 scores of mean m. s* is their standard
  deviation (n − 1) over c₄(n) = √(2/(n − 1)) Γ(n/2) / Γ((n − 1)/2), so that it is unbiased. 0 is a perfect
  repetition. The scale must begin at 0, so CV* is of raw scores; z scores have no such scale;
- sets of scores (type II): r, ρ and τ over the systems (`qc.method.replication`);
- labels (type III): none here, because the workers of two runs rate different conversations;
- findings (type IV): the share P of findings that both runs agree on. A finding is which of two systems is
  better, or that neither is.

Each is given at the levels where it exists: score, criterion and study.

Sources: Belz, *QRA++: Quantified Reproducibility Assessment for Common Types of Results in Natural Language
Processing*, arXiv 2505.17043, 2025; CV*: Belz, Popović and Mille, *Quantified Reproducibility Assessment of
NLP Results*, ACL 2022, section 3.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import gammaln

from qc.method.replication import Correlations, Replication, limited
from qc.method.sample import Sample
from qc.method.scores import score


@dataclass(frozen=True)
class Reproducibility:
    """Degree of reproducibility at three levels.

    Attributes:
        scores: `system`, `criterion` (`overall` too), `first`, `second` (raw scores), `cv` (CV*; NaN if the
            mean is 0).
        criteria: `criterion`, `cv` (mean CV* of the systems), `worst` (the largest), `pearson`, `spearman`,
            `kendall` (of raw scores); `overall` first.
        cv: mean CV* over systems and criteria, without `overall`.
        findings: number of findings that both runs agree on.
        of: number of findings.
        share: P; NaN if there are none.
    """

    scores: pd.DataFrame
    criteria: pd.DataFrame
    cv: float
    findings: int
    of: int
    share: float


def reproduce(sample: Sample, other: Sample, found: Replication) -> Reproducibility:
    """Return how far `other` reproduces `sample`; `found` is their comparison."""
    labels = list(found.labels)
    first, second = (
        score(limited(each, labels)).raw.set_index("system").loc[list(found.systems)]
        for each in (sample, other)
    )
    names = ["overall", *labels]
    pairs = np.stack([table[names].to_numpy(np.float64) for table in (first, second)])
    cv = variation(pairs)
    scores = pd.DataFrame(
        {
            "system": np.repeat(list(found.systems), len(names)),
            "criterion": np.tile(names, len(found.systems)),
            "first": pairs[0].ravel(),
            "second": pairs[1].ravel(),
            "cv": cv.ravel(),
        }
    )
    same = found.same_conclusions
    return Reproducibility(
        scores,
        _criteria(names, cv, found.raw),
        _mean(cv[:, 1:]),
        same.n,
        same.of,
        same.n / same.of if same.of else np.nan,
    )


def variation(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return CV* of `scores`, (n, …), over the first axis, in per cent; NaN unless the mean is above 0."""
    n = len(scores)
    c4 = np.sqrt(2 / (n - 1)) * np.exp(gammaln(n / 2) - gammaln((n - 1) / 2))
    mean = scores.mean(axis=0)
    unbiased = scores.std(axis=0, ddof=1) / c4
    return np.asarray((1 + 1 / (4 * n)) * unbiased / np.where(mean > 0, mean, np.nan) * 100)


def _criteria(names: list[str], cv: NDArray[np.float64], raw: Correlations) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "criterion": names,
            "cv": [_mean(column) for column in cv.T],
            "worst": [float(np.max(column)) if len(column) else np.nan for column in cv.T],
            "pearson": [raw.pearson[name] for name in names],
            "spearman": [raw.spearman[name] for name in names],
            "kendall": [raw.kendall[name] for name in names],
        }
    )


def _mean(values: NDArray[np.float64]) -> float:
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else np.nan
