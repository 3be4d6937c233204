"""Judgments of outputs from any source: a plain CSV, a run of Candor, an export.

The module `judgments` defines the input of every estimator, and `read` creates it from a source.
"""

from qc.judgments.judgments import Judged, Judgments
from qc.judgments.read import Selection, read_judgments

__all__ = ["Judged", "Judgments", "Selection", "read_judgments"]
