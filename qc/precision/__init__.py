"""How precise the mean of each system is, and how many human judgments a metric saves: `estimate`."""

from qc.precision.estimates import EstimateOptions, Estimates, estimate, steps

__all__ = ["EstimateOptions", "Estimates", "estimate", "steps"]
