"""Names of systems, workers, criteria and groups: one rule for spaces, and notes on likely mistakes.

Spaces around a name, several in a row, and characters without width are mistakes of typing or export, so
`clean` takes them out wherever a name is read. Names that differ in case may be of different things: they
stay apart, and a note says so.
"""

import re
import unicodedata
from collections.abc import Iterable

import pandas as pd

from qc.errors import Problem, quoted
from qc.table import listed

NAMED = 5
# Spaces without width, and the mark at the beginning of a file. Joiners stay: they belong to letters.
_UNSEEN = re.compile(r"[\u200b\u2060\ufeff]")

# A long number as spreadsheets show it. Different numbers become one.
_SHORTENED = re.compile(r"\d([.,]\d+)?E\+\d+")


def clean(name: str) -> str:
    """Return a name in Unicode's composed form (NFC), with single spaces inside and none around it."""
    return " ".join(_UNSEEN.sub("", unicodedata.normalize("NFC", name)).split())


def changes(names: Iterable[object]) -> dict[str, str]:
    """Return those of `names` that are not clean, with their clean form. What is not text is skipped."""
    cleaned = {name: clean(name) for name in dict.fromkeys(names) if isinstance(name, str)}
    return {name: short for name, short in cleaned.items() if name != short}


def cleaned(names: pd.Series) -> pd.Series:
    """Return a column of names, each of them clean."""
    changed = changes(names.unique())
    return names.replace(changed) if changed else names


def change_note(kind: str, changed: Iterable[str]) -> list[str]:
    """Return the note that names were changed, such as `systems`; none if there are none."""
    found = sorted(changed)
    if not found:
        return []
    return [
        f"Spaces were removed from names of {kind}: {listed([quoted(name) for name in found], NAMED)}. They "
        "count as the names without."
    ]


def case_note(kind: str, names: Iterable[str]) -> list[str]:
    """Return the note that some names, such as of `systems`, differ only in case; none if none do."""
    alike: dict[str, list[str]] = {}
    for name in sorted(set(names)):
        alike.setdefault(name.casefold(), []).append(name)
    pairs = [" and ".join(map(quoted, same)) for same in alike.values() if len(same) > 1]
    if not pairs:
        return []
    return [
        f"Names of {kind} that differ only in upper and lower case count as different: "
        f"{listed(pairs, NAMED)}. Correct them if they mean the same."
    ]


def shortened_ids(workers: Iterable[object]) -> list[Problem]:
    """Return a problem for each id of `workers` that a spreadsheet has shortened, such as 1.23E+12."""
    return [
        Problem(
            f"worker {quoted(worker)}",
            "is a number that a spreadsheet has shortened, so that several workers may have become one.",
            "Export the file again with this column as text.",
        )
        for worker in dict.fromkeys(workers)
        if isinstance(worker, str) and _SHORTENED.fullmatch(worker)
    ]
