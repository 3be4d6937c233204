"""SONA's code of a student is their id, which is kept encrypted: it was in plain text as well, as a visit."""

from alembic import op

revision = "0043"
down_revision = "0039"
branch_labels = None
depends_on = None


def upgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        op.execute("PRAGMA secure_delete=ON")
    op.execute(
        "DELETE FROM visit WHERE assignment_id IN (SELECT assignment.id FROM assignment "
        "JOIN worker ON worker.id = assignment.worker_id WHERE worker.platform = 'sona')"
    )


def downgrade() -> None:
    """What was removed is not put back: the worker's own row has it."""
