"""Store the moderation service's judgement of lines."""

import sqlalchemy as sa
from alembic import op

from server.db.views import V1_MODERATED_LINE

revision = "0042"
down_revision = "0043"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "moderated_line",
        sa.Column("conversation_id", sa.String(), nullable=False),
        sa.Column("turn_index", sa.Integer(), nullable=False),
        sa.Column("flagged", sa.Boolean(), nullable=True),
        sa.Column("categories", sa.String(), nullable=False),
        sa.Column("score", sa.Float(), nullable=True),
        sa.Column("model", sa.String(), nullable=True),
        sa.Column("judged_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["conversation_id"], ["conversation.id"]),
        sa.PrimaryKeyConstraint("conversation_id", "turn_index"),
    )
    for name, query in V1_MODERATED_LINE.items():
        op.execute(f"CREATE VIEW {name} AS {query}")


def downgrade() -> None:
    for name in V1_MODERATED_LINE:
        op.execute(f"DROP VIEW {name}")
    op.drop_table("moderated_line")
