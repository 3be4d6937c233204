"""Store the reason for a run's state, and the workers excluded from it."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("run", sa.Column("cause", sa.String(), nullable=False, server_default="researcher"))
    op.add_column("run", sa.Column("reason", sa.String(), nullable=False, server_default=sa.text("''")))
    op.create_table(
        "excluded_run",
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("other_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"]),
        sa.ForeignKeyConstraint(["other_id"], ["run.id"]),
        sa.PrimaryKeyConstraint("run_id", "other_id"),
    )


def downgrade() -> None:
    op.drop_table("excluded_run")
    op.drop_column("run", "reason")
    op.drop_column("run", "cause")
