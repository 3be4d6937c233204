"""Store a worker's consent: the version of the text, and the ticked boxes."""

import sqlalchemy as sa
from alembic import op

from server.db.views import V1, V1_ASSIGNMENT

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

_COLUMNS = ("consent_version", "consent_ticked")


def upgrade() -> None:
    for name in _COLUMNS:
        op.add_column("assignment", sa.Column(name, sa.String(), nullable=True))
    op.execute("DROP VIEW v1_assignment")
    op.execute(f"CREATE VIEW v1_assignment AS {V1_ASSIGNMENT}")


def downgrade() -> None:
    op.execute("DROP VIEW v1_assignment")
    for name in _COLUMNS:
        op.drop_column("assignment", name)
    op.execute(f"CREATE VIEW v1_assignment AS {V1['v1_assignment']}")
