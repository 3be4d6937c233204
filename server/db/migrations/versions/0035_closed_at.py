"""Since when runs are closed."""

import sqlalchemy as sa
from alembic import op

from server.clock import utc_now

revision = "0035"
down_revision = "0034"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("run", sa.Column("closed_at", sa.DateTime(timezone=True), nullable=True))
    # Nothing says since when an earlier run is closed: what it keeps has its whole time from now on.
    runs = sa.table("run", sa.column("status"), sa.column("closed_at", sa.DateTime(timezone=True)))
    op.execute(runs.update().where(runs.c.status == "closed").values(closed_at=utc_now()))


def downgrade() -> None:
    op.drop_column("run", "closed_at")
