"""Workers, the filter that they go through, and how they agree."""

import pandas as pd

from qc.analysis import Analysis
from qc.render.tables.named import Named


def workers(analysis: Analysis) -> Named:
    """Yield the workers, and what the filter does."""
    yield "worker_pvalues.csv", analysis.sample.screening.workers[["worker", "p"]]
    if (found := analysis.filter_check) is not None:
        yield "workers.csv", found.workers
        yield (
            "filter.csv",
            pd.DataFrame(
                {
                    "expected_random_pass": [found.expected_random_pass],
                    "simulated_random_pass": [found.simulated_random_pass],
                    "random_share": [found.random_share],
                    "random_among_passed": [found.random_among_passed],
                    "random_among_passed_bound": [found.random_among_passed_bound],
                    "everyone_r": [found.everyone_r],
                    "everyone_rho": [found.everyone_rho],
                    "failed_r": [found.failed_r],
                    "failed_rho": [found.failed_rho],
                }
            ),
        )
        yield "everyone.csv", found.everyone


def agreement(analysis: Analysis) -> Named:
    """Yield how workers agree who met the same systems."""
    found = analysis.agreement
    if found is None:
        return
    groups = {"passed": found.passed, "failed": found.failed}
    yield (
        "rater_agreement.csv",
        pd.DataFrame(
            [(group, pairs.pairs, pairs.median_r, pairs.sampled) for group, pairs in groups.items()],
            columns=["group", "pairs", "median_r", "sampled"],
        ),
    )
    yield (
        "rater_agreement_r.csv",
        pd.concat(
            [pd.DataFrame({"group": group, "r": pairs.r}) for group, pairs in groups.items()],
            ignore_index=True,
        ),
    )


def alpha(analysis: Analysis) -> Named:
    """Yield what another level of the filter would change."""
    found = analysis.alpha
    if found is None:
        return
    rows = [
        (level.alpha, level.workers, level.conversations, level.ranking_rho, level.replication_r, *level.z)
        for level in found.levels
    ]
    columns = ["alpha", "workers", "conversations", "ranking_rho", "replication_r"]
    yield "alpha.csv", pd.DataFrame(rows, columns=[*columns, *(f"z {system}" for system in found.systems)])
