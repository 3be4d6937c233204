"""Tables of effects on scores besides the system."""

from dataclasses import fields, replace

import pandas as pd

from qc.render.table import COUNT, INTERVAL, THREE, Column, P, Table
from qc.robustness.adjusted import Adjusted
from qc.robustness.context import ContextEffects
from qc.robustness.persona import FamilyPersona, PersonaEffect


def persona(found: PersonaEffect) -> Table:
    """Return the effect of a persona."""
    families = [*found.families, *([found.pooled] if found.pooled else [])]
    columns = (
        Column("family", "Family"),
        Column("z_without", "z without", THREE),
        Column("z_with", "z with", THREE),
        Column("difference", "Difference", THREE),
        INTERVAL,
        Column("p", "p", P),
        Column("p_rank_sum", "p, rank sum, as published", P),
    )
    return Table(pd.DataFrame(families, columns=[field.name for field in fields(FamilyPersona)]), columns)


def context(found: ContextEffects) -> Table:
    """Return the effects of order and context."""
    rows = [
        (
            effect.name,
            level.name,
            level.n,
            level.workers,
            level.effect,
            level.low,
            level.high,
            effect.statistic_name,
            effect.statistic,
            effect.p,
        )
        for effect in found.effects
        for level in effect.levels
    ]
    keys = ["effect", "level", "n", "workers", "mean", "low", "high", "statistic_name", "statistic", "p"]
    columns = (
        Column("effect", "Effect"),
        Column("level", "Level"),
        Column("n", "Conversations", COUNT),
        Column("workers", "Workers", COUNT),
        Column("mean", "Mean", THREE),
        INTERVAL,
        Column("p", form=P),
    )
    return Table(pd.DataFrame(rows, columns=keys), columns)


def adjusted(found: Adjusted) -> Table:
    """Return the scores adjusted for order and context."""
    keys = ("plain", "adjusted", "low", "high")
    columns = (
        Column("system", "System"),
        Column("plain", "z, plain", THREE),
        Column("adjusted", "z, adjusted", THREE),
        replace(INTERVAL, head=f"{INTERVAL.head}, adjusted"),
    )
    frame = pd.DataFrame({"system": list(found.systems), **{key: getattr(found, key) for key in keys}})
    return Table(frame, columns)


def coefficients(found: Adjusted) -> Table:
    """Return the model behind the adjusted scores."""
    columns = (
        Column("term", "Term"),
        Column("estimate", "Estimate", THREE),
        Column("se", "Standard error", THREE),
        Column("p", "p", P),
    )
    return Table(found.coefficients, columns)
