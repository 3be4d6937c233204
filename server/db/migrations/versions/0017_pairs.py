"""Studies whose workers compare two systems side by side: choices, and what the draw of pairs counts."""

import sqlalchemy as sa
from alembic import op

from server.db.views import V1_CHOICE

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("conversation", sa.Column("side", sa.String(), nullable=True))
    op.create_table(
        "choice",
        sa.Column("conversation_id", sa.String(), nullable=False),
        sa.Column("turn_index", sa.Integer(), nullable=False),
        sa.Column("preference", sa.String(), nullable=False),
        sa.Column("client_id", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["conversation_id"], ["conversation.id"]),
        sa.PrimaryKeyConstraint("conversation_id", "turn_index"),
    )
    op.create_table(
        "pair_count",
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("simulated", sa.Boolean(), nullable=False),
        sa.Column("left_id", sa.Integer(), nullable=False),
        sa.Column("right_id", sa.Integer(), nullable=False),
        sa.Column("placed", sa.Integer(), nullable=False),
        sa.Column("lefts", sa.Integer(), nullable=False),
        sa.Column("ties", sa.Integer(), nullable=False),
        sa.Column("rights", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"]),
        sa.ForeignKeyConstraint(["left_id"], ["system.id"]),
        sa.ForeignKeyConstraint(["right_id"], ["system.id"]),
        sa.PrimaryKeyConstraint("run_id", "simulated", "left_id", "right_id"),
    )
    for name, query in V1_CHOICE.items():
        op.execute(f"CREATE VIEW {name} AS {query}")


def downgrade() -> None:
    for name in V1_CHOICE:
        op.execute(f"DROP VIEW {name}")
    op.drop_table("pair_count")
    op.drop_table("choice")
    op.drop_column("conversation", "side")
