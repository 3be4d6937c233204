"""Tables of how workers wrote, and of scores without conversations that look pasted."""

from qc.render.table import COUNT, ONE, SHARE, THREE, Column, Table
from qc.render.tables.answers import OF_A_GROUP, OF_A_WORKER, outcome, share_columns
from qc.robustness.writing import WritingResults

_MEDIANS = (
    Column("pace", "Characters a minute", COUNT),
    Column("pause", "Longest pause, s", ONE),
    Column("away", "Times away", ONE),
    Column("away_seconds", "Away, s", ONE),
)


def groups(found: WritingResults) -> Table:
    """Count the conversations that look pasted, for workers who passed, who failed, and all."""
    columns = (
        *OF_A_GROUP,
        Column("conversations", "Conversations", COUNT),
        Column("pasted", "Look pasted", COUNT),
        *share_columns("Share"),
        *_MEDIANS,
    )
    return Table(found.groups, columns)


def workers(found: WritingResults) -> Table:
    """Return how each worker wrote; a reader sees those who pasted most first."""
    ordered = found.workers.sort_values(["pasted_share", "worker"], ascending=[False, True])
    columns = (
        *OF_A_WORKER,
        Column("conversations", "Conversations", COUNT),
        Column("pasted", "Look pasted", COUNT),
        Column("pasted_share", "Pasted", SHARE),
        Column("typed_share", "Typed", SHARE),
        *_MEDIANS,
    )
    return Table(found.workers, columns, ordered.assign(outcome=outcome(ordered)))


def scores(found: WritingResults) -> Table | None:
    """Return the scores without conversations that look pasted; None if there are none."""
    if found.scores.empty:
        return None
    columns = (
        Column("system", "System"),
        Column("n", "Conversations", COUNT),
        Column("left", "Without", COUNT),
        Column("z", "z", THREE),
        Column("z_left", "z without", THREE),
        Column("change", "Change", THREE),
        Column("low", "95 % interval", THREE, upper="high"),
        Column("high", None, THREE),
    )
    return Table(found.scores, columns)
