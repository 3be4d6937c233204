"""Record the researchers who have seen a flagged line."""

import sqlalchemy as sa
from alembic import op

revision = "0045"
down_revision = "0040"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("moderated_line", sa.Column("seen_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("moderated_line", sa.Column("seen_by", sa.String(), nullable=True))


def downgrade() -> None:
    op.drop_column("moderated_line", "seen_by")
    op.drop_column("moderated_line", "seen_at")
