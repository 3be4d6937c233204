"""Record the key that encrypts worker ids, and the currency of a study on a platform."""

import sqlalchemy as sa
from alembic import op

revision = "0039"
down_revision = "0037"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "worker_id_key",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("mark", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.add_column("recruitment", sa.Column("currency", sa.String(), nullable=True))


def downgrade() -> None:
    op.drop_column("recruitment", "currency")
    op.drop_table("worker_id_key")
