"""Mark assignments that a researcher has released. Those so far are in the audit log."""

import sqlalchemy as sa
from alembic import op

revision = "0047"
down_revision = "0046"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "assignment", sa.Column("released", sa.Boolean(), nullable=False, server_default=sa.false())
    )
    op.execute(
        "UPDATE assignment SET released = TRUE WHERE status = 'expired' AND id IN "
        "(SELECT subject FROM audit_entry WHERE action = 'assignment.release')"
    )
    op.create_index(
        "released_of_a_run",
        "assignment",
        ["run_id", "simulated"],
        sqlite_where=sa.text("released"),
        postgresql_where=sa.text("released"),
    )


def downgrade() -> None:
    op.drop_index("released_of_a_run", "assignment")
    op.drop_column("assignment", "released")
