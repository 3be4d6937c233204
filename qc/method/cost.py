"""Cost of a run, and payment for each assignment and conversation that is kept.

Rewards of workers and the fee of the platform; bonuses and the cost of running the systems are not included.
Every analysed assignment counts as paid, because a worker who fails the filter may be paid all the same.
Source: Ji et al., ACL 2022, the section on cost.
"""

from dataclasses import dataclass

import numpy as np

from qc.method.sample import Sample
from qc.run import codes


@dataclass(frozen=True, slots=True)
class Cost:
    """Dollars; NaN if the reward of any assignment is unknown.

    Attributes:
        reward: mean reward of an assignment.
        paid_assignments: number of assignments analysed.
        total: rewards of all of them, with the fee.
        per_kept_assignment: `total` per assignment of a worker who passed; NaN if nobody did.
        per_kept_conversation: `total` per conversation with a system of a worker who passed; NaN if there is
            none.
        fee: of the platform, as a share of the rewards.
    """

    reward: float
    paid_assignments: int
    total: float
    per_kept_assignment: float
    per_kept_conversation: float
    fee: float = 0.0


def cost(sample: Sample, reward: float | None = None, fee: float = 0.0) -> Cost:
    """Return what the run cost.

    Args:
        sample: whose assignments were paid.
        reward: of every assignment, whatever the data say; None for what they say.
        fee: of the platform, as a share of the rewards.
    """
    assignments = sample.run.assignments
    rewards = assignments["reward"].to_numpy(np.float64) if reward is None else np.array([reward])
    # The mean of equal numbers need not be one of them: 0.99 would become 0.9900000000000001.
    alike = rewards.min() == rewards.max()
    mean = float(rewards[0] if alike else np.sort(rewards).mean())
    total = mean * len(assignments) * (1 + fee)
    kept = int(sample.screening.keeps(codes(assignments["worker"])).sum())
    counted = int(sample.counted.sum())
    return Cost(
        reward=mean,
        paid_assignments=len(assignments),
        total=total,
        per_kept_assignment=total / (kept or float("nan")),
        per_kept_conversation=total / (counted or float("nan")),
        fee=fee,
    )
