"""Add a view of a run's state and its reason."""

from alembic import op

from server.db.views import V1_RUN_STATE, target_columns

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    columns = target_columns(op.get_bind().dialect.name)
    for name, query in V1_RUN_STATE.items():
        op.execute(f"CREATE VIEW {name} AS {query.format(**columns)}")


def downgrade() -> None:
    for name in V1_RUN_STATE:
        op.execute(f"DROP VIEW {name}")
