"""Tables of a preregistration and of its outcome."""

import pandas as pd

from qc.registration import Followed
from qc.render.table import THREE, Column, P, Table

_FOLLOWED = {True: "yes", False: "no", None: "the data do not tell"}
_SUPPORTED = {True: "supported", False: "not supported", None: "cannot be tested"}


def points(found: Followed) -> Table:
    """Return what was fixed, what was found, and whether the one is the other."""
    rows = [(one.what, _FOLLOWED[one.followed], one.registered, one.found) for one in found.points]
    heads = {"what": "What", "followed": "Followed", "registered": "Registered", "found": "Found"}
    return Table(
        pd.DataFrame(rows, columns=list(heads)), tuple(Column(key, head) for key, head in heads.items())
    )


def decisions(found: Followed) -> Table:
    """Return the hypotheses, each with its test."""
    rows = [
        (f"{one.higher} > {one.lower}", one.difference, one.p, one.adjusted, _SUPPORTED[one.supported])
        for one in found.decisions
    ]
    return Table(
        pd.DataFrame(rows, columns=["hypothesis", "difference", "p", "adjusted", "decision"]),
        (
            Column("hypothesis", "Hypothesis"),
            Column("difference", "Difference in z", THREE),
            Column("p", "p", P),
            Column("adjusted", "p, Holm", P),
            Column("decision", "Decision"),
        ),
    )
