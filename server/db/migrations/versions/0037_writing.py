"""Store how messages were written, as workers' pages count it."""

import sqlalchemy as sa
from alembic import op

from server.db.views import V1_WRITING

revision = "0037"
down_revision = "0036"
branch_labels = None
depends_on = None

_NUMBERS = ("typed", "composed", "pasted", "pastes", "writing_ms", "longest_pause_ms", "away", "away_ms")


def upgrade() -> None:
    op.create_table(
        "writing",
        sa.Column("conversation_id", sa.String(), nullable=False),
        sa.Column("turn_index", sa.Integer(), nullable=False),
        *(sa.Column(name, sa.Integer(), nullable=False) for name in _NUMBERS),
        sa.ForeignKeyConstraint(["conversation_id"], ["conversation.id"]),
        sa.PrimaryKeyConstraint("conversation_id", "turn_index"),
    )
    for name, query in V1_WRITING.items():
        op.execute(f"CREATE VIEW {name} AS {query}")


def downgrade() -> None:
    for name in V1_WRITING:
        op.execute(f"DROP VIEW {name}")
    op.drop_table("writing")
