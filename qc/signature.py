"""One line that states what a result was made of and how, so that two results can be compared.

After the example of sacreBLEU (Post, *A Call for Clarity in Reporting BLEU Scores*, WMT 2018).
"""

import hashlib
from importlib.metadata import version
from typing import Protocol

import pandas as pd

from qc.run import Run

DIGEST_LENGTH = 16


class Digest(Protocol):
    """What takes in the data: a hash of `hashlib`."""

    def update(self, data: bytes, /) -> None:
        """Take in `data`."""


def signature(run: Run, alpha: float) -> str:
    """Return the signature of an analysis of `run` at level `alpha`."""
    parts = {
        "candor": version("candor"),
        "data": f"sha256:{data_hash(run)[:DIGEST_LENGTH]}",
        "criteria": ",".join(_criteria(run)),
        "filter": "mann-whitney:less:auto",
        "alpha": f"{alpha:g}",
        "z": "worker:ddof=1",
        "partial": "yes" if run.partial else "no",
    }
    return "|".join(f"{key}={value}" for key, value in parts.items())


def data_hash(run: Run) -> str:
    """Return the SHA-256, in hex, of the data that take part.

    It depends on what the data say and not on how they are stored: the same run read from another
    format, or with its assignments in another order, has the same hash.
    """
    digest = hashlib.sha256()
    for frame in (run.criteria, run.systems, run.assignments, run.conversations, run.ratings):
        for name, column in frame.items():
            digest.update(f"{name}\x1d".encode())
            _update(digest, column)
    return digest.hexdigest()


def _criteria(run: Run) -> list[str]:
    """Return the criteria as labels, with `-` before a negative one and `*` after one that counts for qc."""
    return [
        f"{'-' if row.negative else ''}{row.label}{'*' if row.counts_for_qc else ''}"
        for row in run.criteria.itertuples()
    ]


def _update(digest: Digest, column: pd.Series) -> None:
    if isinstance(column.dtype, pd.CategoricalDtype):
        digest.update("\x1f".join(column.cat.categories).encode())
        digest.update(column.cat.codes.to_numpy("<i8").tobytes())
    elif pd.api.types.is_bool_dtype(column) or pd.api.types.is_numeric_dtype(column):
        digest.update(column.to_numpy("<f8").tobytes())
    else:
        digest.update("\x1f".join(column.fillna("")).encode())
