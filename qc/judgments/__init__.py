"""Judgments of outputs, whatever they came from: a plain CSV, a run of ours, an export.

`judgments` has the two values that every estimator starts from, `read` makes them of a source.
"""

from qc.judgments.judgments import Judged, Judgments
from qc.judgments.read import Selection, read_judgments

__all__ = ["Judged", "Judgments", "Selection", "read_judgments"]
