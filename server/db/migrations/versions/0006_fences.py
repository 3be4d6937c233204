"""Who may write to a session is a number that grows whenever a process takes the session over."""

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
