"""Add what was seen paid of bonuses and submissions, and purposes as they are compared."""

import re
import unicodedata

import sqlalchemy as sa
from alembic import op

revision = "0046"
down_revision = "0045"
branch_labels = None
depends_on = None

_INDEX = "one_bonus_batch_under_way"
_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)


def _replace_index(condition: str) -> None:
    op.drop_index(_INDEX, "bonus_batch")
    where = sa.text(condition)
    op.create_index(
        _INDEX, "bonus_batch", ["recruitment_id"], unique=True, sqlite_where=where, postgresql_where=where
    )


def upgrade() -> None:
    # `sent` was stored before the call that pays: a batch that is left so has had no answer.
    op.execute("UPDATE bonus_batch SET state = 'unknown' WHERE state = 'sent'")
    _replace_index("state = 'unknown'")
    op.add_column("bonus", sa.Column("seen_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("bonus", sa.Column("purpose_key", sa.String(), nullable=True))
    op.add_column("submission", sa.Column("paid_share", sa.Integer(), nullable=True))
    _fill_keys()
    op.create_index("one_bonus_of_a_purpose", "bonus", ["submission_id", "purpose_key"], unique=True)


def _fill_keys() -> None:
    """Give every bonus its key; of several that look the same, which were allowed until now, the first."""
    connection = op.get_bind()
    rows = connection.execute(sa.text("SELECT batch_id, submission_id, purpose FROM bonus ORDER BY batch_id"))
    change = sa.text("UPDATE bonus SET purpose_key = :key WHERE batch_id = :batch AND submission_id = :whose")
    given = set[tuple[str, str]]()
    for batch, whose, purpose in rows.all():
        key = _key(purpose)
        if (whose, key) not in given:
            given.add((whose, key))
            connection.execute(change, {"key": key, "batch": batch, "whose": whose})


def _key(purpose: str) -> str:
    spaced = " ".join(unicodedata.normalize("NFKC", purpose).casefold().split())
    seen = "".join(mark for mark in spaced if unicodedata.category(mark) not in {"Cc", "Cf"})
    return _INVISIBLE.sub("", seen).strip()


def downgrade() -> None:
    op.drop_index("one_bonus_of_a_purpose", "bonus")
    op.drop_column("submission", "paid_share")
    op.drop_column("bonus", "purpose_key")
    op.drop_column("bonus", "seen_at")
    op.execute("UPDATE bonus_batch SET state = 'paid' WHERE state = 'sent'")
    _replace_index("state IN ('sent', 'unknown')")
