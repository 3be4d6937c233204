"""The paper kit of one run."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from qc.analysis import Analysis
from qc.paper.datasheet import datasheet
from qc.paper.kit import Kit, write_kit
from qc.paper.methods import methods_paragraph
from qc.paper.tables import paper_tables
from qc.progress import OnStep

if TYPE_CHECKING:
    from qc.paper.sheet import PaperFigure

_CAPTIONS = {
    "ranking": "Overall scores of the systems with their intervals.",
    "significance": "Whether the system of the row scores higher than that of the column.",
    "replication": "Overall scores of the systems in two runs.",
}


def write_paper(analysis: Analysis, directory: Path, formats: frozenset[str], on_step: OnStep) -> list[Path]:
    """Write the kit of an analysis; arguments, result and errors are those of `write_kit`."""

    def draw() -> "Iterator[PaperFigure]":
        from qc.paper.figures import paper_figures  # noqa: PLC0415  # imports matplotlib

        return paper_figures(analysis)

    kit = Kit(
        title=f"{analysis.run.name}: a human evaluation",
        methods=methods_paragraph(analysis),
        tables=tuple(paper_tables(analysis)),
        captions=_CAPTIONS,
        draw=draw,
        texts={"datasheet.md": datasheet(analysis)},
        signature=analysis.signature,
    )
    return write_kit(kit, directory, formats, on_step)
