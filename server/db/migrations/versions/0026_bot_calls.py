"""Store the provenance of replies and the cost of bot calls."""

import sqlalchemy as sa
from alembic import op

from server.db.views import V1, V1_BOT_CALL, V1_TURN

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "bot_call",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("conversation_id", sa.String(), nullable=False),
        sa.Column("turn_index", sa.Integer(), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("failure", sa.String(), nullable=True),
        sa.Column("output", sa.String(), nullable=True),
        sa.Column("model", sa.String(), nullable=True),
        sa.Column("revision", sa.String(), nullable=True),
        sa.Column("prompt_hash", sa.String(), nullable=True),
        sa.Column("sampling", sa.String(), nullable=True),
        sa.Column("tokens_in", sa.Integer(), nullable=True),
        sa.Column("tokens_out", sa.Integer(), nullable=True),
        sa.Column("cost", sa.Float(), nullable=True),
        sa.Column("finish_reason", sa.String(), nullable=True),
        sa.Column("replica", sa.String(), nullable=True),
        sa.Column("queued_ms", sa.Integer(), nullable=True),
        sa.Column("computed_ms", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["conversation_id"], ["conversation.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("bot_call_of_a_turn", "bot_call", ["conversation_id", "turn_index"])
    op.create_table(
        "spending",
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("bot_id", sa.Integer(), nullable=False),
        sa.Column("cost", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"]),
        sa.ForeignKeyConstraint(["bot_id"], ["bot.id"]),
        sa.PrimaryKeyConstraint("run_id", "bot_id"),
    )
    op.execute("DROP VIEW v1_turn")
    for name, query in (V1_TURN | V1_BOT_CALL).items():
        op.execute(f"CREATE VIEW {name} AS {query}")


def downgrade() -> None:
    for name in V1_TURN | V1_BOT_CALL:
        op.execute(f"DROP VIEW {name}")
    op.execute(f"CREATE VIEW v1_turn AS {V1['v1_turn']}")
    op.drop_table("spending")
    op.drop_index("bot_call_of_a_turn", "bot_call")
    op.drop_table("bot_call")
