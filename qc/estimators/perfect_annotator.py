"""Estimate the variance of judgments if every annotator were perfect.

A perfect annotator gives an output the mean of infinitely many judgments, so that only the variance between
outputs remains. R = Var H / (Var H − within): n such judgments are worth R n ordinary ones.

Source: Wei and Jia, ACL 2021, section 6.1 and tables 3 and 4. Table 4 computes the variance within an output
with the divisor k, its number of judgments, which is too small by the factor (k − 1) / k; table 3 uses k − 1.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qc.statistics.groups import group_means


@dataclass(frozen=True, slots=True)
class PerfectAnnotator:
    """The variance of a judgment, and its part within an output.

    Attributes:
        variance: of all judgments, with their number as divisor.
        within: mean variance of the judgments of one output; NaN if no output was judged twice.
    """

    variance: float
    within: float

    @property
    def sd(self) -> float:
        """Standard deviation of a judgment."""
        return float(np.sqrt(self.variance))

    @property
    def sd_within(self) -> float:
        """Standard deviation of the judgments of one output."""
        return float(np.sqrt(self.within))

    @property
    def sd_perfect(self) -> float:
        """Standard deviation of a perfect annotator's judgments; NaN without variance between outputs."""
        left = self.variance - self.within
        return float(np.sqrt(left)) if left > 0 else np.nan

    @property
    def ratio(self) -> float:
        """R, the number of ordinary judgments that a perfect judgment is worth; NaN if `sd_perfect` is."""
        return self.variance / self.sd_perfect**2


def perfect_annotator(values: NDArray[np.float64], outputs: NDArray[np.intp]) -> PerfectAnnotator:
    """Return the variances, with divisor k − 1 within outputs.

    Args:
        values: (rows,), judgments.
        outputs: (rows,), codes from 0; an output that was judged once does not count for the part within.
    """
    squares, spare = _within(values, outputs)
    return PerfectAnnotator(float(values.var()), squares / spare if spare else np.nan)


def published_annotator(values: NDArray[np.float64], outputs: NDArray[np.intp]) -> PerfectAnnotator:
    """Return the variances as printed in table 4, with divisor k within outputs."""
    squares, spare = _within(values, outputs)
    return PerfectAnnotator(float(values.var()), squares / len(values) if spare else np.nan)


def annotator_within_systems(
    values: NDArray[np.float64], outputs: NDArray[np.intp], systems: NDArray[np.intp]
) -> PerfectAnnotator:
    """Return the variances, with the mean over systems of the variance within each as total.

    Use this one to plan a comparison of two systems: the variance between systems is what the plan should
    detect, so it does not count here.

    Args:
        values: (rows,), judgments.
        outputs: (rows,), codes from 0.
        systems: (rows,), codes from 0, each of which occurs.
    """
    count = int(systems.max()) + 1
    means = group_means(values, systems, count)
    variance = group_means((values - means[systems]) ** 2, systems, count).mean()
    return PerfectAnnotator(float(variance), perfect_annotator(values, outputs).within)


def _within(values: NDArray[np.float64], outputs: NDArray[np.intp]) -> tuple[float, int]:
    """Return the sum of squares within outputs, and its degrees of freedom (judgments − outputs)."""
    count = int(outputs.max()) + 1
    residuals = values - group_means(values, outputs, count)[outputs]
    judged = int(np.count_nonzero(np.bincount(outputs)))
    return float((residuals**2).sum()), len(values) - judged
