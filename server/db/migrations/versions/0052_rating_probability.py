"""Keep the probability with which an item was drawn to be rated, and show it to readers of the views."""

import sqlalchemy as sa
from alembic import op

from server.db.views import V1, V1_CONVERSATION

revision = "0052"
down_revision = "0051"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("item", sa.Column("rating_probability", sa.Float(), nullable=True))
    op.execute("DROP VIEW v1_conversation")
    op.execute(f"CREATE VIEW v1_conversation AS {V1_CONVERSATION['v1_conversation']}")


def downgrade() -> None:
    op.execute("DROP VIEW v1_conversation")
    op.execute(f"CREATE VIEW v1_conversation AS {V1['v1_conversation']}")
    op.drop_column("item", "rating_probability")
