"""Estimate the precision of each system's mean, and how many judgments a metric saves: `estimate`."""

from qc.precision.estimates import EstimateOptions, Estimates, estimate, steps
from qc.precision.stopping import Sequence, Stopping, StoppingStanding, stopping

__all__ = [
    "EstimateOptions",
    "Estimates",
    "Sequence",
    "Stopping",
    "StoppingStanding",
    "estimate",
    "steps",
    "stopping",
]
