"""Store a model's own output where workers saw less of it."""

import sqlalchemy as sa
from alembic import op

from server.db.views import V1_REPLY_OUTPUT

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "reply_output",
        sa.Column("conversation_id", sa.String(), nullable=False),
        sa.Column("turn_index", sa.Integer(), nullable=False),
        sa.Column("output", sa.String(), nullable=False),
        sa.Column("changes", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["conversation_id"], ["conversation.id"]),
        sa.PrimaryKeyConstraint("conversation_id", "turn_index"),
    )
    for name, query in V1_REPLY_OUTPUT.items():
        op.execute(f"CREATE VIEW {name} AS {query}")


def downgrade() -> None:
    for name in V1_REPLY_OUTPUT:
        op.execute(f"DROP VIEW {name}")
    op.drop_table("reply_output")
