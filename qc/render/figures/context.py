"""Figures of effects on ratings: position, time, topic, persona, adjusted scores."""

import numpy as np

from qc.number_format import decimal, probability, relation, whole
from qc.render.drawing.figure import Drawing
from qc.render.drawing.rows import interval, point, rows
from qc.render.drawing.sheet import Sheet
from qc.render.drawing.style import BLUE, INK, VERMILION
from qc.robustness.adjusted import Adjusted
from qc.robustness.context import ContextEffects, Effect
from qc.robustness.persona import PersonaEffect


def persona(result: PersonaEffect) -> Drawing | None:
    """Draw the difference in overall z between systems with and without persona, by family and overall.

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


# Distance of the plain and the adjusted score above and below the middle of their row, in rows.
APART = 0.17
KEY = (("◇", VERMILION, "plain"), ("●", BLUE, "adjusted"))


def adjusted_scores(result: Adjusted) -> Drawing | None:
    """Draw plain and adjusted overall z of every system, with the interval of the adjusted score.

    None if there is no adjusted score.
    """
    plain, adjusted = result.plain, result.adjusted
    if not np.isfinite(adjusted - plain).any():
        return None
    extent = np.concatenate([plain, adjusted, result.low, result.high])
    names = list(result.systems)

    def draw(width: float) -> Sheet:
        panel = rows(width, names, "overall score (z)", extent, legend=KEY)
        for i in range(len(names)):
            interval(panel, result.low[i], result.high[i], i + APART, BLUE)
            point(panel, adjusted[i], i + APART, BLUE, size=8)
            point(panel, plain[i], i - APART, VERMILION, "D", filled=False, size=6.5)
        return panel.page

    most = int(np.nanargmax(np.abs(adjusted - plain)))
    alt = (
        "Plain and adjusted overall z of every system; the largest change is that of "
        f"{names[most]}, from {decimal(plain[most])} to {decimal(adjusted[most])}."
    )
    return Drawing("Scores adjusted for order and context", alt, draw)


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
