"""Bots that are registered with the server, and the conformance checks of them."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "registration",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("endpoint", sa.String(), nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "bot_check",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("verdict", sa.String(), nullable=False),
        sa.Column("report", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    with op.batch_alter_table("bot_check", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_bot_check_name"), ["name"], unique=False)


def downgrade() -> None:
    with op.batch_alter_table("bot_check", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_bot_check_name"))

    op.drop_table("bot_check")
    op.drop_table("registration")
