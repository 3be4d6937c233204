"""Print the findings of a command on a terminal."""

from qc.render.findings.findings import Findings
from qc.render.terminal import ascii_minus, grid
from qc.terminal import Console


def show_findings(found: Findings, console: Console) -> None:
    """Print the verdict and notes first, then the tables."""
    console.print(f"{found.title}  ({found.source})" if found.source else found.title, style="bold")
    for sentence in found.verdict:
        console.print(ascii_minus(sentence))
    for note in found.notes:
        console.print(f"! {ascii_minus(note)}", style="yellow")
    for file, each in found.files.items():
        if each.on_terminal != 0:
            console.print(grid(each.title, each.table, each.on_terminal, file))
            console.print(ascii_minus(each.text), style="dim")
    console.print(f"Signature: {found.signature}", soft_wrap=True)
