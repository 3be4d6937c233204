"""Show the texts of items to readers of the views."""

from alembic import op

from server.db.views import V1_ITEM

revision = "0053"
down_revision = "0052"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(f"CREATE VIEW v1_item AS {V1_ITEM['v1_item']}")


def downgrade() -> None:
    op.execute("DROP VIEW v1_item")
