"""What a command found, on a terminal."""

from rich.console import Console

from qc.render.findings.findings import Findings
from qc.render.terminal import ascii_minus, grid


def show_findings(found: Findings, console: Console) -> None:
    """Print the verdict and notes first, then the tables."""
    console.print(f"{found.title}  ({found.source})" if found.source else found.title, style="bold")
    for sentence in found.verdict:
        console.print(ascii_minus(sentence))
    for note in found.notes:
        console.print(f"! {note}", style="yellow")
    for part in found.parts:
        if part.on_terminal != 0 and len(part.table.shown_rows):
            file = f"{found.command}_{part.name}.csv"
            console.print(grid(part.title, part.table, part.on_terminal, file))
            console.print(ascii_minus(part.text), style="dim")
    console.print(f"Signature: {found.signature}", soft_wrap=True)
