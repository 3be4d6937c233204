"""Figure: agreement of workers with themselves."""

from qc.number_format import decimal, whole
from qc.render.figures.density import correlations
from qc.render.figures.figure import Drawing
from qc.transcripts.repeats import Repeats, SelfAgreement


def repeats(result: Repeats) -> Drawing | None:
    """Draw how r of items with their repeats is distributed over workers who passed and who failed.

    None if no worker has an r.
    """
    passed, failed = result.passed, result.failed
    if len(passed.r) + len(failed.r) == 0:
        return None
    words = _words("passed", passed), _words("failed", failed)
    alt = (
        "Distributions of the correlation of each worker’s ratings of items with those of their repeats: "
        f"{'; '.join(words)}."
    )
    draw = correlations(passed.r, failed.r, "Pearson r of a worker’s two ratings", words)
    return Drawing("Agreement of workers with themselves", alt, draw)


def _words(name: str, group: SelfAgreement) -> str:
    if len(group.r) == 0:
        return f"{name}: no worker with r"
    return f"{name}: {whole(len(group.r))} workers, median r {decimal(group.quartiles[1], 2)}"
