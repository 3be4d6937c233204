"""Quizzes about personas: what a quiz is about, and lines that nobody said."""

import sqlalchemy as sa
from alembic import op

from server.db.views import V1_QUIZ, V1_QUIZ_WITH_PERSONAS

revision = "0054"
down_revision = "0053"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _drop_views()
    op.add_column("quiz", sa.Column("about", sa.String(), nullable=False, server_default="lines"))
    _require_conversations(False)
    for name, query in V1_QUIZ_WITH_PERSONAS.items():
        op.execute(f"CREATE VIEW {name} AS {query}")


def downgrade() -> None:
    _drop_views()
    op.execute(
        "DELETE FROM quiz_line "
        "WHERE conversation_id IN (SELECT conversation_id FROM quiz WHERE about = 'personas')"
    )
    op.execute("DELETE FROM quiz WHERE about = 'personas'")
    _require_conversations(True)
    op.drop_column("quiz", "about")
    for name, query in V1_QUIZ.items():
        op.execute(f"CREATE VIEW {name} AS {query}")


def _drop_views() -> None:
    for name in V1_QUIZ:
        op.execute(f"DROP VIEW {name}")


def _require_conversations(required: bool) -> None:
    """Say whether every line of a quiz has a turn of a conversation."""
    if op.get_bind().dialect.name == "postgresql":
        op.alter_column("quiz_line", "said_in_id", nullable=not required)
        op.alter_column("quiz_line", "turn_index", nullable=not required)
        return
    # SQLite changes no column; Alembic's own copy of a table has its foreign keys in any order.
    op.rename_table("quiz_line", "earlier_quiz_line")
    op.create_table(
        "quiz_line",
        sa.Column("conversation_id", sa.String(), nullable=False),
        sa.Column("choice", sa.Integer(), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("said_in_id", sa.String(), nullable=not required),
        sa.Column("turn_index", sa.Integer(), nullable=not required),
        sa.ForeignKeyConstraint(["conversation_id"], ["quiz.conversation_id"]),
        sa.ForeignKeyConstraint(["said_in_id"], ["conversation.id"]),
        sa.PrimaryKeyConstraint("conversation_id", "choice"),
    )
    op.execute("INSERT INTO quiz_line SELECT * FROM earlier_quiz_line")
    op.drop_table("earlier_quiz_line")
