"""Record removals from assignments."""

import sqlalchemy as sa
from alembic import op

from server.db.views import V1_REMOVAL

revision = "0034"
down_revision = "0031"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "removal",
        sa.Column("assignment_id", sa.String(), nullable=False),
        sa.Column("extent", sa.String(), nullable=False),
        sa.Column("cause", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["assignment_id"], ["assignment.id"]),
        sa.PrimaryKeyConstraint("assignment_id"),
    )
    for name, query in V1_REMOVAL.items():
        op.execute(f"CREATE VIEW {name} AS {query}")


def downgrade() -> None:
    for name in V1_REMOVAL:
        op.execute(f"DROP VIEW {name}")
    op.drop_table("removal")
