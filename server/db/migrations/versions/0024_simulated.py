"""Mark simulated workers and conversations."""

import sqlalchemy as sa
from alembic import op

from server.db.views import V1_SIMULATED

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("assignment", sa.Column("simulated_as", sa.String(), nullable=True))
    for name, query in V1_SIMULATED.items():
        op.execute(f"CREATE VIEW {name} AS {query}")


def downgrade() -> None:
    for name in V1_SIMULATED:
        op.execute(f"DROP VIEW {name}")
    op.drop_column("assignment", "simulated_as")
