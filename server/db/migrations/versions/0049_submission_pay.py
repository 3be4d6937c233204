"""Show the pay of submissions to readers of the views."""

from alembic import op

from server.db.views import V1_SUBMISSION_PAY

revision = "0049"
down_revision = "0048"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for name, query in V1_SUBMISSION_PAY.items():
        op.execute(f"CREATE VIEW {name} AS {query}")


def downgrade() -> None:
    for name in V1_SUBMISSION_PAY:
        op.execute(f"DROP VIEW {name}")
