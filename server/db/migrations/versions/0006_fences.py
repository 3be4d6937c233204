"""Fence writers of a session by a number that grows with each takeover."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("assignment", sa.Column("fence", sa.Integer(), nullable=False, server_default="0"))


def downgrade() -> None:
    op.drop_column("assignment", "fence")
