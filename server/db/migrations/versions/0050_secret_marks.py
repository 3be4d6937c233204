"""Keep a mark of each secret that a database depends on, beside that of the key of worker ids."""

import sqlalchemy as sa
from alembic import op

revision = "0050"
down_revision = "0049"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "secret_mark",
        sa.Column("purpose", sa.String(), nullable=False),
        sa.Column("mark", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("purpose"),
    )
    op.execute("INSERT INTO secret_mark (purpose, mark) SELECT 'worker_ids', mark FROM worker_id_key")
    op.drop_table("worker_id_key")


def downgrade() -> None:
    op.create_table(
        "worker_id_key",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("mark", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.execute(
        "INSERT INTO worker_id_key (id, mark) SELECT 1, mark FROM secret_mark WHERE purpose = 'worker_ids'"
    )
    op.drop_table("secret_mark")
