"""Made-up judgments whose truth is known, as files."""

from pathlib import Path

import numpy as np

SYSTEMS = {"good": 1.0, "poor": -1.0}


def write_judgments(folder: Path, *, each: int = 2, rated: int = 60, outputs: int = 200) -> tuple[Path, Path]:
    """Write judgments of two systems, and metrics of all their outputs; return both files.

    The metric `judge` correlates with the outputs at 0.8, `noise` does not, and `same` is always 3. Every
    judgment is by one of 40 workers.

    Args:
        folder: where to.
        each: judgments of every rated output.
        rated: outputs of each system that have judgments.
        outputs: outputs of each system.
    """
    rng = np.random.default_rng(7)
    judgments, metrics = ["item,system,worker,value"], ["item,system,judge,noise,same"]
    for system, mean in SYSTEMS.items():
        quality = rng.standard_normal(outputs)
        for item, true in enumerate(quality):
            judge, noise = true + 0.75 * rng.standard_normal(), rng.standard_normal()
            metrics.append(f"i{item},{system},{judge:.5f},{noise:.5f},3")
        for item in range(rated):
            for worker in rng.choice(40, each, replace=False):
                value = mean + quality[item] + 0.5 * rng.standard_normal()
                judgments.append(f"i{item},{system},w{worker},{value:.5f}")
    paths = folder / "judgments.csv", folder / "metrics.csv"
    for path, lines in zip(paths, (judgments, metrics), strict=True):
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return paths
