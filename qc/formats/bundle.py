"""Paths inside a bundle, shared by the code that writes and the code that reads bundles."""

from collections.abc import Container

MANIFEST = "bundle.json"
RUN, SECOND = "data/run", "data/second"
SUFFIXES = (".jsonl", ".json", ".csv")  # of the server's export, and of the two published formats


def data_file(run: str, names: Container[str]) -> str | None:
    """Return the name of the file among `names` that holds RUN or SECOND; None if there is none."""
    return next((run + suffix for suffix in SUFFIXES if run + suffix in names), None)
