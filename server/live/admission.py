"""Decide whether a worker may join a run now, for a join and inside the transaction that gives a slot."""

from dataclasses import replace
from datetime import datetime

from sqlalchemy import Connection

from server.bots.lineup import OpenRun
from server.bots.spending_caps import first_reached
from server.db.runs import Cause, RunStatus
from server.db.standing import standing
from server.errors import NotInvited, RunClosed, RunComplete, RunOutOfHours, RunPaused, TookPart
from server.live.way_in import WayIn
from server.run_rules import RunRules, Standing, end_of, is_open, next_opening, read_rules, room_for_another


def admit(connection: Connection, run: OpenRun, way_in: WayIn, *, simulated: bool, at: datetime) -> bool:
    """Return whether one more worker may be under way in `run`; if not, a place may still change hands.

    The rules of a run are about people: simulated workers have the places that the study's file gives.

    Raises:
        RunPaused, RunClosed, RunComplete, RunOutOfHours: nobody may come now.
        TookPart, NotInvited: this worker may not.
    """
    require_open(way_in.status, way_in.cause)
    if simulated:
        return True
    rules = read_rules(way_in.rules)
    _require_invited(way_in)
    _require_hours(rules, at)
    if not rules.bounds_places and run.study.assignments is None and not run.spending_caps:
        return True
    standing = standing_of(connection, run, rules)
    if end_of(rules, standing) is not None:
        raise RunComplete(_ENOUGH)
    return room_for_another(rules, standing)


def standing_of(connection: Connection, run: OpenRun, rules: RunRules) -> Standing:
    """Return how a run stands with people, and with what its bots may cost."""
    stands = standing(connection, run.id, run.study, rules)
    caps = dict.fromkeys(cap for caps in run.spending_caps.values() for cap in caps)
    return replace(stands, spent=first_reached(connection, caps)) if caps else stands


def require_open(status: RunStatus, cause: Cause) -> None:
    """Check that a run lets somebody new in. Raises RunPaused, RunClosed, RunComplete."""
    if status == "paused":
        raise RunPaused("this study is paused for a while")
    if status == "closed" and cause != "researcher":
        raise RunComplete(_ENOUGH)
    if status == "closed":
        raise RunClosed("this study takes no more workers")


_ENOUGH = "this study has all the answers that it needs"


def _require_hours(rules: RunRules, at: datetime) -> None:
    hours = rules.opening_hours
    if hours is not None and not is_open(hours, at):
        raise RunOutOfHours(next_opening(hours, at))


def _require_invited(way_in: WayIn) -> None:
    if way_in.took_part:
        raise TookPart("you took part in an earlier round of this study")
    if way_in.is_excluded:
        raise NotInvited("this study is not open to you")
