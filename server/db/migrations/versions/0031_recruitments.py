"""Studies on platforms of workers: submissions, decisions on pay, bonuses."""

import sqlalchemy as sa
from alembic import op

revision = "0031"
down_revision = "0033"
branch_labels = None
depends_on = None

_REFUSAL = "decisions on pay are only added to"
_UNDER_WAY = sa.text("state IN ('sent', 'unknown')")


def _time(name: str, *, nullable: bool = False) -> sa.Column[object]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable)


def _text(name: str, *, nullable: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.String(), nullable=nullable)


def _number(name: str, *, nullable: bool = False) -> sa.Column[int]:
    return sa.Column(name, sa.Integer(), nullable=nullable)


def upgrade() -> None:
    op.create_table(
        "recruitment",
        _number("id"),
        _number("run_id"),
        _text("platform"),
        _text("study"),
        _text("status"),
        _number("places"),
        _number("reward"),
        _time("created_at"),
        _text("created_by"),
        _time("read_at", nullable=True),
        _text("fault", nullable=True),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("run_id"),
    )
    op.create_table(
        "recruitment_code",
        _number("recruitment_id"),
        _text("ending"),
        _text("code"),
        sa.ForeignKeyConstraint(["recruitment_id"], ["recruitment.id"]),
        sa.PrimaryKeyConstraint("recruitment_id", "ending"),
    )
    op.create_table(
        "submission",
        _text("id"),
        _number("recruitment_id"),
        _text("status"),
        _time("started_at"),
        _time("completed_at", nullable=True),
        _text("code", nullable=True),
        _time("read_at"),
        sa.ForeignKeyConstraint(["recruitment_id"], ["recruitment.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_submission_recruitment_id", "submission", ["recruitment_id"])
    op.create_table(
        "payment_decision",
        _number("id"),
        _text("submission_id"),
        _text("decision"),
        _number("share", nullable=True),
        _text("category", nullable=True),
        _text("reason"),
        _text("decided_by"),
        _time("decided_at"),
        sa.ForeignKeyConstraint(["submission_id"], ["submission.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_payment_decision_submission_id", "payment_decision", ["submission_id"])
    op.create_table(
        "bonus_batch",
        _number("id"),
        _number("recruitment_id"),
        _text("platform_batch"),
        _number("total"),
        _text("state"),
        _text("prepared_by"),
        _time("prepared_at"),
        _time("sent_at", nullable=True),
        _time("settled_at", nullable=True),
        sa.ForeignKeyConstraint(["recruitment_id"], ["recruitment.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(
        "one_bonus_batch_under_way",
        "bonus_batch",
        ["recruitment_id"],
        unique=True,
        sqlite_where=_UNDER_WAY,
        postgresql_where=_UNDER_WAY,
    )
    op.create_table(
        "bonus",
        _number("batch_id"),
        _text("submission_id"),
        _text("purpose"),
        _number("cents"),
        _number("seen_before", nullable=True),
        sa.ForeignKeyConstraint(["batch_id"], ["bonus_batch.id"]),
        sa.ForeignKeyConstraint(["submission_id"], ["submission.id"]),
        sa.PrimaryKeyConstraint("batch_id", "submission_id"),
        sa.UniqueConstraint("submission_id", "purpose"),
    )
    _keep_decisions()


def _keep_decisions() -> None:
    if op.get_bind().dialect.name == "postgresql":
        op.execute(
            "CREATE FUNCTION refuse_to_change_payment_decision() RETURNS trigger LANGUAGE plpgsql AS "
            f"$$ BEGIN RAISE EXCEPTION '{_REFUSAL}'; END $$"
        )
        op.execute(
            "CREATE TRIGGER payment_decision_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON payment_decision "
            "FOR EACH STATEMENT EXECUTE FUNCTION refuse_to_change_payment_decision()"
        )
        return
    for what in ("UPDATE", "DELETE"):
        op.execute(
            f"CREATE TRIGGER payment_decision_stays_{what.lower()} BEFORE {what} ON payment_decision "
            f"BEGIN SELECT RAISE(ABORT, '{_REFUSAL}'); END"
        )


def downgrade() -> None:
    for table in ("bonus", "bonus_batch", "payment_decision", "submission", "recruitment_code"):
        op.drop_table(table)
    op.drop_table("recruitment")
    if op.get_bind().dialect.name == "postgresql":
        op.execute("DROP FUNCTION refuse_to_change_payment_decision")
