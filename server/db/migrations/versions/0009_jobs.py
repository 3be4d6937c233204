"""Add background jobs, leases, analyses of runs and rehearsals."""

import sqlalchemy as sa
from alembic import op

from server.db.views import V1_RUN, V1_RUN_OF_A_KIND

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("run", sa.Column("kind", sa.String(), nullable=False, server_default="study"))
    op.execute("DROP VIEW v1_run")
    op.execute(f"CREATE VIEW v1_run AS {V1_RUN_OF_A_KIND}")
    op.create_table(
        "rehearsal",
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("quality", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"]),
        sa.PrimaryKeyConstraint("run_id"),
    )
    op.create_table(
        "analysis",
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("basis", sa.String(), nullable=False),
        sa.Column("content", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"]),
        sa.PrimaryKeyConstraint("run_id"),
    )
    op.create_table(
        "job_lease",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("holder", sa.String(), nullable=False),
        sa.Column("until", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "job",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("options", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("step", sa.String(), nullable=False),
        sa.Column("done", sa.Integer(), nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("error", sa.String(), nullable=True),
        sa.Column("result", sa.String(), nullable=True),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_job_run_id", "job", ["run_id"])


def downgrade() -> None:
    for name in ("job", "job_lease", "analysis", "rehearsal"):
        op.drop_table(name)
    op.execute("DROP VIEW v1_run")
    op.drop_column("run", "kind")
    op.execute(f"CREATE VIEW v1_run AS {V1_RUN}")
