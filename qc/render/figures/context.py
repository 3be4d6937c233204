"""Figure: effect of position, time and topic on ratings."""

import numpy as np

from qc.number_format import decimal, relation, whole
from qc.render.figures.figure import Drawing
from qc.render.figures.rows import interval, point, rows
from qc.render.figures.sheet import Sheet
from qc.render.figures.style import BLUE
from qc.robustness.context import ContextEffects, Effect


def context_effects(result: ContextEffects) -> Drawing | None:
    """Draw, for every effect, the mean z at each of its levels relative to the means of the same systems.

    None if there is no effect to draw.
    """
    if not any(np.isfinite(level.effect) for effect in result.effects for level in effect.levels):
        return None
    labels: list[str] = []
    right: list[str] = []
    strong: set[int] = set()
    for effect in result.effects:
        strong.add(len(labels))
        labels += [effect.name, *(level.name for level in effect.levels), ""]
        right += [f"p {relation(effect.p)}", *(f"n {whole(level.n)}" for level in effect.levels), ""]
    labels, right = labels[:-1], right[:-1]
    levels = [level for effect in result.effects for level in effect.levels]
    extent = np.array([(level.effect, level.low, level.high) for level in levels]).reshape(-1)

    def draw(width: float) -> Sheet:
        axis = "z relative to the same systems’ mean"
        panel = rows(width, labels, axis, extent, right, strong=strong, striped=False)
        row = 0
        for effect in result.effects:
            for i, level in enumerate(effect.levels, start=row + 1):
                interval(panel, level.low, level.high, i, BLUE)
                point(panel, level.effect, i, BLUE)
            row += len(effect.levels) + 2
        return panel.page

    return Drawing("Effects of order and context", _alt(result), draw)


def _alt(result: ContextEffects) -> str:
    parts = [
        _extremes(effect) for effect in result.effects if any(np.isfinite(v.effect) for v in effect.levels)
    ]
    return f"Mean z by context with intervals: {'; '.join(parts) or 'nothing to compare'}."


def _extremes(effect: Effect) -> str:
    known = [level for level in effect.levels if np.isfinite(level.effect)]
    low = min(known, key=lambda level: level.effect)
    high = max(known, key=lambda level: level.effect)
    return (
        f"{effect.name} from {decimal(low.effect, 2)} ({low.name}) to {decimal(high.effect, 2)} ({high.name})"
    )
