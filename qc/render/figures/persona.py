"""Figure: contribution of a persona in each family."""

import numpy as np

from qc.number_format import decimal, probability
from qc.render.figures.figure import Drawing
from qc.render.figures.rows import interval, point, rows
from qc.render.figures.sheet import Sheet
from qc.render.figures.style import BLUE, INK
from qc.robustness.persona import PersonaEffect


def persona(result: PersonaEffect) -> Drawing | None:
    """Draw the difference in overall z between systems with and without persona, by family and over all.

    None if no difference is known.
    """
    if not any(np.isfinite(family.difference) for family in result.families):
        return None
    entries = [*result.families, *([result.pooled] if result.pooled else [])]
    extent = np.array([(entry.difference, entry.low, entry.high) for entry in entries]).reshape(-1)
    strong = {len(result.families)} if result.pooled else set()
    labels = [entry.family for entry in entries]
    chances = [probability(e.p) for e in entries]

    def draw(width: float) -> Sheet:
        panel = rows(width, labels, "z with persona − z without", extent, chances, "p", strong)
        for i, entry in enumerate(entries):
            pooled = entry is result.pooled
            colour = INK if pooled else BLUE
            interval(panel, entry.low, entry.high, i, colour)
            point(panel, entry.difference, i, colour, "D" if pooled else "o")
        return panel.page

    found = [f"{e.family} {decimal(e.difference, 2)}" for e in entries if np.isfinite(e.difference)]
    alt = f"Difference in overall z with and without persona, by family: {', '.join(found)}."
    return Drawing("Contribution of a persona", alt, draw)
