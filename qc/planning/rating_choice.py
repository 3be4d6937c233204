"""Choose what people rate: the probability with which each output is drawn, by what judges disagree on.

Where judges err, a rating tells most. Their error is guessed from their disagreement d, and people differ
about every output as well, so the probability is in proportion to √(D + d²), with D the mean of d². An output
on which all judges agree is then drawn at least 0.7 times as often as one of the middling kind, and its
rating does not weigh by a huge 1 / π.

Source: Zrnic and Candès, *Active statistical inference*, ICML 2024: π in proportion to the root of the
expected squared error, which minimises the variance of their estimate, with the budget as its mean. They
guard against a bad guess by a mixture with equal probabilities; that D is added to the square is ours. The
estimate weighs by 1 / π (`qc.estimators.pool_mean`).
"""

import sys
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray

from qc.command import stderr_console
from qc.errors import OptionError, SourceError, joined
from qc.judgments.assembly import HEADINGS, PROBABILITY, cleaned_table
from qc.loading.tables import read_table
from qc.table import decimal, whole


def disagreement(metrics: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the standard deviation of the judges' values of each output, (N,).

    Args:
        metrics: (N, M), values of at least two judges; each is put on one scale first, of mean 0 and sd 1.
    """
    spread = metrics.std(axis=0)
    scaled = (metrics - metrics.mean(axis=0)) / np.where(spread > 0, spread, 1)
    return np.asarray(scaled.std(axis=1, ddof=1))


def rating_probabilities(disagreement: NDArray[np.float64], share: float) -> NDArray[np.float64]:
    """Return the probability with which each output is drawn, (N,), with the mean `share`.

    Args:
        disagreement: (N,), 0 or more.
        share: share of the outputs that people should rate, above 0 and at most 1.
    """
    squares = disagreement**2
    size = np.sqrt(squares.mean() + squares) if squares.any() else np.ones(len(squares))
    certain = np.zeros(len(size), bool)
    while True:
        left = share * len(size) - certain.sum()
        found = left * size / size[~certain].sum() if not certain.all() else size
        more = ~certain & (found >= 1)
        if not more.any():
            return np.where(certain, 1.0, found)
        certain |= more


app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich")


@app.command(name="sampling")
def sampling(
    metrics: Annotated[
        Path, typer.Argument(metavar="FILE", help="CSV with the judges' scores of all outputs.")
    ],
    metric: Annotated[str, typer.Option(metavar="NAMES", help="At least two judges, separated by commas.")],
    share: Annotated[
        float, typer.Option(metavar="SHARE", help="Share of the outputs that people rate, on average.")
    ],
    out: Annotated[Path, typer.Option(metavar="FILE", help="Where to write the same with probabilities.")],
) -> None:
    """Give each output the probability with which people rate it: more where judges disagree.

    A transcript study draws items by the file that this writes (items.probabilities). The same file is for
    --metrics of candor estimate, which weighs ratings by the inverse.
    """
    with stderr_console():
        try:
            table = cleaned_table(str(metrics), read_table(metrics, HEADINGS))
        except OSError as error:
            raise SourceError(f"{metrics}: the file cannot be read ({error}). Check the path.") from None
        names = [name.strip() for name in metric.split(",")]
        unknown = [name for name in names if name not in table.numeric_columns()]
        if unknown or len(set(names)) < 2:
            raise OptionError(
                f"--metric is {metric!r}; name at least two of: {joined(table.numeric_columns())}."
            )
        if not 0 < share <= 1:
            raise OptionError(f"--share is {share:g}; give a share above 0 and at most 1.")
        scores = np.column_stack([table.numbers(name, empty=False) for name in names])
        found = rating_probabilities(disagreement(scores), share)
        table.cells.assign(**{PROBABILITY: found}).to_csv(out, index=False)
    sys.stdout.write(
        f"{out}: probabilities of {whole(len(found))} outputs, from {decimal(float(found.min()), 3)} to "
        f"{decimal(float(found.max()), 3)}; {whole(round(float(found.sum())))} are drawn on average.\n"
    )


if __name__ == "__main__":
    app(prog_name="python -m qc.planning.rating_choice")
