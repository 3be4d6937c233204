"""Keep which group (passage, document, prompt) an item belongs to; that of earlier items is unknown."""

import sqlalchemy as sa
from alembic import op

revision = "0051"
down_revision = "0050"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("item", sa.Column("item_group", sa.String(), nullable=True))


def downgrade() -> None:
    op.drop_column("item", "item_group")
