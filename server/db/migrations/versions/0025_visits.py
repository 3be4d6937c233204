"""Store the visits of workers from platforms."""

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "visit",
        sa.Column("assignment_id", sa.String(), nullable=False),
        sa.Column("visit", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["assignment_id"], ["assignment.id"]),
        sa.PrimaryKeyConstraint("assignment_id", "visit"),
    )


def downgrade() -> None:
    op.drop_table("visit")
