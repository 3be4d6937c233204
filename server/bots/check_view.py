"""Checks of registered bots as the API shows them."""

import re

from sqlalchemy import Connection

from server.bots import stored_bots
from server.bots.background_checks import BackgroundCheck
from server.bots.responses import CheckView
from server.bots.stored_bots import Registration
from server.study import LEFT_OUT

_ADDRESS = re.compile(r"""https?://[^\s"'\\]+""")


def check_of(
    connection: Connection, row: Registration, in_this_process: BackgroundCheck | None
) -> CheckView | None:
    """Return the check that is under way or broke off here, else the latest report; None: there is none."""
    if in_this_process is not None:
        return check_view(in_this_process)
    stored = stored_bots.latest_check(connection, row)
    if stored is None:
        return None
    return CheckView(state="finished", done=1, total=1, at=stored.at, report=stored.report, error=None)


def check_view(check: BackgroundCheck) -> CheckView:
    """Return a check that is not over, or that broke off."""
    return CheckView(
        state="running" if check.error is None else "failed",
        done=check.done,
        total=check.total,
        at=check.at,
        report=None,
        error=check.error,
    )


def without_addresses(check: CheckView) -> CheckView:
    """Return a check without the addresses that its errors name."""
    return CheckView.model_validate_json(_ADDRESS.sub(LEFT_OUT, check.model_dump_json()))
