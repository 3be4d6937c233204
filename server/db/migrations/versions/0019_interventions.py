"""Store researchers' messages to workers, excluded assignments, and points of interim analyses."""

import sqlalchemy as sa
from alembic import op

from server.db.views import V1_EXCLUSIONS

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "notice",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("assignment_id", sa.String(), nullable=True),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"]),
        sa.ForeignKeyConstraint(["assignment_id"], ["assignment.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_notice_run_id", "notice", ["run_id"])
    op.create_table(
        "exclusion",
        sa.Column("assignment_id", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("excluded_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["assignment_id"], ["assignment.id"]),
        sa.PrimaryKeyConstraint("assignment_id"),
    )
    op.create_table(
        "analysis_point",
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("ratings", sa.Integer(), nullable=False),
        sa.Column("scores", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"]),
        sa.PrimaryKeyConstraint("run_id", "ratings"),
    )
    for name, select in V1_EXCLUSIONS.items():
        op.execute(f"CREATE VIEW {name} AS {select}")


def downgrade() -> None:
    for name in V1_EXCLUSIONS:
        op.execute(f"DROP VIEW {name}")
    for table in ("analysis_point", "exclusion", "notice"):
        op.drop_table(table)
