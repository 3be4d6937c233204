"""A run's rules, who may not come to it, and the counts by which it has enough."""

import sqlalchemy as sa
from alembic import op

from server.db.counts import FILL_RUN_COUNTS

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("run", sa.Column("rules", sa.String(), nullable=False, server_default="{}"))
    op.create_table(
        "excluded_worker",
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("external_id", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"]),
        sa.PrimaryKeyConstraint("run_id", "external_id"),
    )
    op.create_table(
        "assignment_count",
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("simulated", sa.Boolean(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"]),
        sa.PrimaryKeyConstraint("run_id", "simulated", "status"),
    )
    op.create_table(
        "rated_count",
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("simulated", sa.Boolean(), nullable=False),
        sa.Column("system_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"]),
        sa.ForeignKeyConstraint(["system_id"], ["system.id"]),
        sa.PrimaryKeyConstraint("run_id", "simulated", "system_id"),
    )
    for statement in FILL_RUN_COUNTS:
        op.execute(statement)


def downgrade() -> None:
    for table in ("rated_count", "assignment_count", "excluded_worker"):
        op.drop_table(table)
    op.drop_column("run", "rules")
