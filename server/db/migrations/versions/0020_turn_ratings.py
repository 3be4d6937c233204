"""Store ratings of single replies."""

import sqlalchemy as sa
from alembic import op

from server.db.views import V1_TURN_RATING

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "turn_rating",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("conversation_id", sa.String(), nullable=False),
        sa.Column("turn_index", sa.Integer(), nullable=False),
        sa.Column("value", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("client_id", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["conversation_id"], ["conversation.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_turn_rating_conversation_id", "turn_rating", ["conversation_id"])
    for name, query in V1_TURN_RATING.items():
        op.execute(f"CREATE VIEW {name} AS {query}")


def downgrade() -> None:
    for name in V1_TURN_RATING:
        op.execute(f"DROP VIEW {name}")
    op.drop_table("turn_rating")
