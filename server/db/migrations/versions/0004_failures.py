"""The kind of each failure of a bot, and version 2 of the view of notes, which has it."""

import sqlalchemy as sa
from alembic import op

from server.db.views import V2

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("note", sa.Column("failure", sa.String(), nullable=True))
    for name, query in V2.items():
        op.execute(f"CREATE VIEW {name} AS {query}")


def downgrade() -> None:
    for name in V2:
        op.execute(f"DROP VIEW {name}")
    op.drop_column("note", "failure")
