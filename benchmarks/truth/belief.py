"""Is the leader's chance to be the best right, where the belief that it begins with is?

True scores are drawn from that belief: as likely as not all are equal, else the share ρ of true differences
in what is seen is anything from 0 to 1. Scores have independent normal errors of variance 1, whose draws are
given, so that nothing but the chance itself is counted.
"""

from collections.abc import Mapping

import numpy as np

from benchmarks.truth.part import Count, Counted, Part
from qc.robustness.intervals import leader

SYSTEMS = {"three-systems": 3, "ten-systems": 10}
DRAWS = 999
# Below, between and above these the stated chance is counted by itself.
CUTS = (0.5, 0.9)
KINDS = ("any chance", "a chance up to 50 %", "a chance of 50 to 90 %", "a chance above 90 %")
COLUMNS = tuple(f"{kind}: {what}" for kind in KINDS for what in ("said", "is so"))


def _counting(key: str) -> Count:
    systems = SYSTEMS[key]

    def count(number: int) -> Mapping[str, Counted]:
        rng = np.random.default_rng([5, number])
        equal, share = rng.random() < 0.5, rng.random()
        true = np.zeros(systems) if equal else rng.normal(0, np.sqrt(share / (1 - share)), systems)
        seen, errors = true + rng.normal(size=systems), rng.normal(size=(DRAWS, systems))
        ones = np.ones(systems)
        apart = np.sqrt(2) * (1 - np.eye(systems))
        first = int(seen.argmax())
        said = float(leader(seen, ones, apart, errors, errors, rng).best_chance[first])
        best = true == true.max()
        so = float(best[first] / best.sum())
        kind = KINDS[1 + int(np.searchsorted(CUTS, said))]
        return {
            f"{each}: {what}": (value, 1)
            for each in (KINDS[0], kind)
            for what, value in (("said", said), ("is so", so))
        }

    return count


PARTS = {
    "belief": Part(
        {"The leader's chance": COLUMNS},
        {key: f"{count} systems" for key, count in SYSTEMS.items()},
        _counting,
    )
}
