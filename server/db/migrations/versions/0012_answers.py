"""Questions of a study's own, and what workers answer."""

import sqlalchemy as sa
from alembic import op

from server.db.views import V1_ANSWERS

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "question",
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("part", sa.String(), nullable=False),
        sa.Column("label", sa.String(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("question", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("choices", sa.String(), nullable=False),
        sa.Column("points", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"]),
        sa.PrimaryKeyConstraint("study_id", "part", "label"),
    )
    op.create_table(
        "questionnaire",
        sa.Column("assignment_id", sa.String(), nullable=False),
        sa.Column("part", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("client_id", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["assignment_id"], ["assignment.id"]),
        sa.PrimaryKeyConstraint("assignment_id", "part"),
    )
    op.create_table(
        "answer",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("assignment_id", sa.String(), nullable=False),
        sa.Column("conversation_id", sa.String(), nullable=True),
        sa.Column("part", sa.String(), nullable=False),
        sa.Column("label", sa.String(), nullable=False),
        sa.Column("text", sa.String(), nullable=True),
        sa.Column("number", sa.Float(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["assignment_id"], ["assignment.id"]),
        sa.ForeignKeyConstraint(["conversation_id"], ["conversation.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_answer_assignment_id", "answer", ["assignment_id"])
    op.create_index("ix_answer_conversation_id", "answer", ["conversation_id"])
    for name, query in V1_ANSWERS.items():
        op.execute(f"CREATE VIEW {name} AS {query}")


def downgrade() -> None:
    for name in V1_ANSWERS:
        op.execute(f"DROP VIEW {name}")
    for name in ("answer", "questionnaire", "question"):
        op.drop_table(name)
