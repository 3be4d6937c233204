"""Figure: agreement of workers who met the same systems."""

from qc.method.agreement import Agreement, Pairs
from qc.number_format import decimal, whole
from qc.render.figures.density import correlations
from qc.render.figures.figure import Drawing


def agreement(result: Agreement) -> Drawing | None:
    """Draw how r is distributed over pairs of workers, for those who passed and for those who failed.

    None if there is no pair.
    """
    passed, failed = result.passed, result.failed
    if len(passed.r) + len(failed.r) == 0:
        return None
    words = _words("passed", passed), _words("failed", failed)
    alt = (
        f"Distributions of the correlation between two workers who met the same systems: {'; '.join(words)}."
    )
    draw = correlations(passed.r, failed.r, "Pearson r of two workers’ scores", words)
    return Drawing("Agreement between workers", alt, draw)


def _words(group: str, pairs: Pairs) -> str:
    if len(pairs.r) == 0:
        return f"{group}: no pair"
    return f"{group}: {whole(pairs.pairs)} pairs, median r {decimal(pairs.median_r, 2)}"
