"""Count the plans of a run as they change, and index them for arrivals."""

import sqlalchemy as sa
from alembic import op

from server.db.counts import FILL_PLAN_COUNTS

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

ACTIVE = sa.text("status = 'active'")


def upgrade() -> None:
    op.create_table(
        "plan_count",
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("simulated", sa.Boolean(), nullable=False),
        sa.Column("system_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"]),
        sa.ForeignKeyConstraint(["system_id"], ["system.id"]),
        sa.PrimaryKeyConstraint("run_id", "simulated", "system_id", "position"),
    )
    op.create_table(
        "free_place",
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("simulated", sa.Boolean(), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"]),
        sa.PrimaryKeyConstraint("run_id", "simulated", "place"),
    )
    for statement in FILL_PLAN_COUNTS:
        op.execute(statement)
    op.create_index("place_of_a_run", "assignment", ["run_id", "simulated", "place"])
    for name, column in (("silent_since", "active_at"), ("under_way_since", "created_at")):
        op.create_index(
            name,
            "assignment",
            ["run_id", "simulated", column],
            sqlite_where=ACTIVE,
            postgresql_where=ACTIVE,
        )


def downgrade() -> None:
    for name in ("under_way_since", "silent_since", "place_of_a_run"):
        op.drop_index(name, "assignment")
    op.drop_table("free_place")
    op.drop_table("plan_count")
