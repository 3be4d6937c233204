"""Ids of workers, encrypted."""

from alembic import context, op

from server.db.secrets import decrypt_all, encrypt_plain

revision = "0033"
down_revision = "0030"
branch_labels = None
depends_on = None


def upgrade() -> None:
    encrypt_plain(op.get_bind(), context.config.attributes["ids"])


def downgrade() -> None:
    decrypt_all(op.get_bind(), context.config.attributes["ids"])
