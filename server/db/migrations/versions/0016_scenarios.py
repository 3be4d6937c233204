"""Scenarios of conversations."""

import sqlalchemy as sa
from alembic import op

from server.db.views import V1_SCENARIO

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("conversation", sa.Column("scenario", sa.String(), nullable=True))
    for name, query in V1_SCENARIO.items():
        op.execute(f"CREATE VIEW {name} AS {query}")


def downgrade() -> None:
    for name in V1_SCENARIO:
        op.execute(f"DROP VIEW {name}")
    op.drop_column("conversation", "scenario")
