"""Measure how often a running interval misses the true score, looked at after every worker.

    python benchmarks/running_coverage.py [RUNS]

The runs are made up: five systems and a QC bot, rated on seven criteria by workers as different as the
published ones (constants of bots/crowd/profile.py). Three in four workers are honest, the others rate at
random. One line is printed for each length of run: the share of runs in which an interval of a system missed
at any look, and the median width at the last look, in z. 95 % of the runs must never miss, so the shares must
be 5 % at most.
"""

import sys
import time

import numpy as np
from numpy.typing import NDArray

from qc.method.filter import worker_p_values
from qc.method.sample import standardise
from qc.precision.confidence_sequence import TIGHTEST, asymptotic, worker_stream

QUALITY = (0.0, 0.30, 0.36, 0.42, 0.48, 0.60)  # the qc bot first
LOWEST, PER_QUALITY = -4.0, 100.0
WORKER_SD, CONVERSATION_SD, RATING_SD = 15.6, 15.8, 17.5
CRITERIA = 7
LENGTHS = (40, 80, 160, 320, 640)


def drawn(workers: int, rng: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return overall z, (workers, systems), and who passes, (workers,)."""
    shape = (workers, len(QUALITY), CRITERIA)
    latent = LOWEST + PER_QUALITY * np.array(QUALITY)[:, None]
    bias = rng.normal(0, WORKER_SD, (workers, 1, 1))
    mood = rng.normal(0, CONVERSATION_SD, (workers, len(QUALITY), 1))
    honest = np.clip(np.rint(latent + bias + mood + rng.normal(0, RATING_SD, shape)), 0, 100)
    anywhere = rng.integers(0, 101, shape)
    rows = np.where((rng.random(workers) < 0.75)[:, None, None], honest, anywhere).reshape(-1, CRITERIA)
    owner = np.repeat(np.arange(workers), len(QUALITY))
    is_qc = np.tile(np.arange(len(QUALITY)) == 0, workers)
    z = standardise(rows.astype(np.float64), owner, workers).mean(axis=1).reshape(workers, -1)
    p = worker_p_values(rows.astype(np.float64), owner, is_qc, workers)
    return z[:, 1:], p < 0.05


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
    print(f"{runs:,} runs a line: % in which a system's interval missed at any look; width at the last")
    for length in LENGTHS:
        started = time.process_time()
        rng = np.random.default_rng(length)
        z, passed = drawn(runs * length, rng)
        truth = z[passed].mean(axis=0)
        missed, widths = np.zeros(z.shape[1]), []
        for number in range(runs):
            own = slice(number * length, (number + 1) * length)
            of = np.flatnonzero(passed[own])
            for system in range(z.shape[1]):
                sequence = asymptotic(worker_stream(z[own][of, system], of), 0.05, TIGHTEST)
                missed[system] += bool((np.abs(sequence.centre - truth[system]) > sequence.half_width).any())
                widths.append(2 * sequence.half_width[-1])
        shares = " ".join(f"{100 * share / runs:5.2f}" for share in missed)
        took = time.process_time() - started
        print(f"{length:4} workers: {shares}   width {np.nanmedian(widths):.3f}   {took:.0f} s CPU")


if __name__ == "__main__":
    main()
