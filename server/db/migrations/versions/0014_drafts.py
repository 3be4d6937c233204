"""Studies as researchers write them, version by version; what was opened before is in them, too."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "draft",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("archived_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "draft_version",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("yaml", sa.String(), nullable=False),
        sa.Column("hash", sa.String(), nullable=False),
        sa.Column("saved_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("saved_by", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["name"], ["draft.name"]),
        sa.PrimaryKeyConstraint("name", "number"),
    )
    op.execute("INSERT INTO draft (name) SELECT DISTINCT name FROM study")
    op.execute("""
        INSERT INTO draft_version (name, number, yaml, hash, saved_at, saved_by)
        SELECT name, ROW_NUMBER() OVER (PARTITION BY name ORDER BY id), yaml, hash, created_at,
            'whoever opened it'
        FROM study""")


def downgrade() -> None:
    op.drop_table("draft_version")
    op.drop_table("draft")
