"""Estimates on a terminal: what metrics save first, then notes, then the tables."""

from rich.console import Console

from qc.precision.estimates import Estimates
from qc.render.estimates.sentences import findings
from qc.render.estimates.tables import estimate_tables
from qc.render.terminal import ascii_minus, grid

SHOWN_ROWS = 30
# These have a row for each look or point, for programs and figures.
_LONG = frozenset({"sequences.csv", "widths.csv"})


def show(estimates: Estimates, console: Console) -> None:
    """Print the estimates."""
    console.print(f"Estimates from {estimates.source}", style="bold")
    for sentence in findings(estimates):
        console.print(ascii_minus(sentence))
    for note in estimates.notes:
        console.print(f"! {ascii_minus(note)}", style="yellow")
    for titled in estimate_tables(estimates):
        if titled.name not in _LONG:
            console.print(grid(titled.title, titled.table, most=SHOWN_ROWS, whole_in=titled.name))
            console.print(titled.text, style="dim")
    console.print(f"Signature: {estimates.signature}", soft_wrap=True)
