"""The audit log, whose rows nobody changes; tokens for one study."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

_REFUSAL = "the audit log is only added to"


def upgrade() -> None:
    op.create_table(
        "audit_entry",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("actor", sa.String(), nullable=False),
        sa.Column("action", sa.String(), nullable=False),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("detail", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.add_column("token", sa.Column("study", sa.String(), nullable=True))
    if op.get_bind().dialect.name == "postgresql":
        op.execute(
            "CREATE FUNCTION refuse_to_change_audit_entry() RETURNS trigger LANGUAGE plpgsql AS "
            f"$$ BEGIN RAISE EXCEPTION '{_REFUSAL}'; END $$"
        )
        op.execute(
            "CREATE TRIGGER audit_entry_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_entry "
            "FOR EACH STATEMENT EXECUTE FUNCTION refuse_to_change_audit_entry()"
        )
        return
    for what in ("UPDATE", "DELETE"):
        op.execute(
            f"CREATE TRIGGER audit_entry_stays_{what.lower()} BEFORE {what} ON audit_entry "
            f"BEGIN SELECT RAISE(ABORT, '{_REFUSAL}'); END"
        )


def downgrade() -> None:
    op.drop_table("audit_entry")
    if op.get_bind().dialect.name == "postgresql":
        op.execute("DROP FUNCTION refuse_to_change_audit_entry")
    op.drop_column("token", "study")
