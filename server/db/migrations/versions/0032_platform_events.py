"""Store the platform events that were handled."""

import sqlalchemy as sa
from alembic import op

revision = "0032"
down_revision = "0035"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "platform_event",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("signature", sa.String(), nullable=False),
        sa.Column("received_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("signature"),
    )
    op.create_index("ix_platform_event_received_at", "platform_event", ["received_at"])


def downgrade() -> None:
    op.drop_table("platform_event")
