"""Studies whose workers rate what others have said or written: their items, and what is made of them."""

import sqlalchemy as sa
from alembic import op

from server.db.views import SECONDS, V1, V1_ITEMS, V1_RUN

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("study", sa.Column("task", sa.String(), nullable=False, server_default="chat"))
    op.create_table(
        "item",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("form", sa.String(), nullable=False),
        sa.Column("system_id", sa.Integer(), nullable=False),
        sa.Column("source", sa.String(), nullable=False),
        sa.Column("source_conversation_id", sa.String(), nullable=True),
        sa.Column("content", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"]),
        sa.ForeignKeyConstraint(["system_id"], ["system.id"]),
        sa.ForeignKeyConstraint(["source_conversation_id"], ["conversation.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("run_id", "name", "form"),
    )
    op.create_index("ix_item_name", "item", ["name"])
    op.create_index("ix_item_source_conversation_id", "item", ["source_conversation_id"])
    op.create_table(
        "shown_item",
        sa.Column("conversation_id", sa.String(), nullable=False),
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("twin_of", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["conversation_id"], ["conversation.id"]),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"]),
        sa.PrimaryKeyConstraint("conversation_id"),
    )
    op.create_index("ix_shown_item_item_id", "shown_item", ["item_id"])
    op.create_table(
        "item_edit",
        sa.Column("conversation_id", sa.String(), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("share", sa.Float(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["conversation_id"], ["conversation.id"]),
        sa.PrimaryKeyConstraint("conversation_id"),
    )
    op.create_table(
        "tutorial_answer",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("assignment_id", sa.String(), nullable=False),
        sa.Column("question", sa.Integer(), nullable=False),
        sa.Column("answer", sa.Integer(), nullable=False),
        sa.Column("is_right", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("client_id", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["assignment_id"], ["assignment.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_tutorial_answer_assignment_id", "tutorial_answer", ["assignment_id"])
    op.execute("DROP VIEW v1_run")
    op.execute(f"CREATE VIEW v1_run AS {V1_RUN}")
    seconds = SECONDS[op.get_bind().dialect.name]
    for name, query in V1_ITEMS.items():
        op.execute(f"CREATE VIEW {name} AS {query.format(seconds=seconds)}")


def downgrade() -> None:
    for name in V1_ITEMS:
        op.execute(f"DROP VIEW {name}")
    op.execute("DROP VIEW v1_run")
    for name in ("tutorial_answer", "item_edit", "shown_item", "item"):
        op.drop_table(name)
    op.drop_column("study", "task")
    op.execute(f"CREATE VIEW v1_run AS {V1['v1_run']}")
