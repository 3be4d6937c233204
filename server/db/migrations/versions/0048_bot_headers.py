"""Take headers out of registered bots that no bot may have: of the connection, and a proxy's password."""

import json

import sqlalchemy as sa
from alembic import op

revision = "0048"
down_revision = "0047"
branch_labels = None
depends_on = None

_REFUSED = frozenset({
    "connection", "content-encoding", "content-length", "content-type", "expect", "host", "keep-alive",
    "proxy-authenticate", "proxy-authorization", "proxy-connection", "te", "trailer", "transfer-encoding",
    "upgrade",
})  # fmt: skip


def upgrade() -> None:
    bot = sa.table("registration", sa.column("name"), sa.column("endpoint"))
    for row in op.get_bind().execute(sa.select(bot.c.name, bot.c.endpoint)).all():
        endpoint = json.loads(row.endpoint)
        headers = endpoint.get("headers", {})
        kept = {name: value for name, value in headers.items() if name.lower() not in _REFUSED}
        if kept != headers:
            text = json.dumps(endpoint | {"headers": kept}, sort_keys=True)
            op.execute(sa.update(bot).where(bot.c.name == row.name).values(endpoint=text))


def downgrade() -> None:
    pass
