"""What moves scores besides the system."""

import pandas as pd

from qc.analysis import Analysis
from qc.render.tables.named import Named


def persona(analysis: Analysis) -> Named:
    """Yield what a persona contributes."""
    found = analysis.persona
    if found is None:
        return
    pooled = () if found.pooled is None else (found.pooled,)
    yield (
        "persona.csv",
        pd.DataFrame(
            [
                (
                    f.family,
                    f.with_persona,
                    f.without,
                    f.z_with,
                    f.z_without,
                    f.difference,
                    f.low,
                    f.high,
                    f.p,
                    f.p_rank_sum,
                )
                for f in (*found.families, *pooled)
            ],
            columns=[
                "family",
                "with_persona",
                "without",
                "z_with",
                "z_without",
                "difference",
                "low",
                "high",
                "p",
                "p_rank_sum",
            ],
        ),
    )


def context(analysis: Analysis) -> Named:
    """Yield effects of order and context, and scores adjusted for them."""
    if (found := analysis.context) is not None:
        yield (
            "context.csv",
            pd.DataFrame(
                [
                    (
                        effect.name,
                        level.name,
                        level.n,
                        level.effect,
                        level.low,
                        level.high,
                        effect.statistic_name,
                        effect.statistic,
                        effect.p,
                    )
                    for effect in found.effects
                    for level in effect.levels
                ],
                columns=["effect", "level", "n", "mean", "low", "high", "statistic_name", "statistic", "p"],
            ),
        )
    if (adjusted := analysis.adjusted) is not None:
        yield (
            "adjusted.csv",
            pd.DataFrame(
                {
                    "system": list(adjusted.systems),
                    "plain": adjusted.plain,
                    "adjusted": adjusted.adjusted,
                    "low": adjusted.low,
                    "high": adjusted.high,
                }
            ),
        )
        yield "adjusted_coefficients.csv", adjusted.coefficients
