"""Quizzes after conversations; and on how many points the replies of a study are rated."""

import sqlalchemy as sa
import yaml
from alembic import op

from server.db.views import V1_QUIZ, V1_TURN_RATING, V1_TURN_RATING_WITH_POINTS

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "quiz",
        sa.Column("conversation_id", sa.String(), nullable=False),
        sa.Column("why_not", sa.String(), nullable=True),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("choice", sa.Integer(), nullable=True),
        sa.Column("is_right", sa.Boolean(), nullable=True),
        sa.Column("answered_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("client_id", sa.String(), nullable=True),
        sa.ForeignKeyConstraint(["conversation_id"], ["conversation.id"]),
        sa.PrimaryKeyConstraint("conversation_id"),
    )
    op.create_table(
        "quiz_line",
        sa.Column("conversation_id", sa.String(), nullable=False),
        sa.Column("choice", sa.Integer(), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("said_in_id", sa.String(), nullable=False),
        sa.Column("turn_index", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["conversation_id"], ["quiz.conversation_id"]),
        sa.ForeignKeyConstraint(["said_in_id"], ["conversation.id"]),
        sa.PrimaryKeyConstraint("conversation_id", "choice"),
    )
    op.add_column("study", sa.Column("turn_points", sa.Integer(), nullable=True))
    _fill_in_points()
    op.execute("DROP VIEW v1_turn_rating")
    for name, query in (V1_TURN_RATING_WITH_POINTS | V1_QUIZ).items():
        op.execute(f"CREATE VIEW {name} AS {query}")


def _fill_in_points() -> None:
    """Say of the studies that are there what their files say."""
    connection = op.get_bind()
    study = sa.table("study", sa.column("id"), sa.column("yaml"), sa.column("turn_points"))
    rating = sa.select(study.c.id, study.c.yaml).where(study.c.yaml.contains("turn_ratings"))
    for row in connection.execute(rating).all():
        asked = yaml.safe_load(row.yaml).get("turn_ratings")
        points = 2 if asked == "thumbs" else asked
        connection.execute(study.update().where(study.c.id == row.id).values(turn_points=points))


def downgrade() -> None:
    for name in (*V1_QUIZ, *V1_TURN_RATING):
        op.execute(f"DROP VIEW {name}")
    op.drop_column("study", "turn_points")
    for name, query in V1_TURN_RATING.items():
        op.execute(f"CREATE VIEW {name} AS {query}")
    op.drop_table("quiz_line")
    op.drop_table("quiz")
