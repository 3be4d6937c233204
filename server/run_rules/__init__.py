"""A run's rules (target, budget, opening hours, excluded workers), and decisions by them."""

from server.run_rules.decision import Counts, RunEnd, Standing, end_of, needed, places_open, room_for_another
from server.run_rules.rules import (
    Budget,
    OpeningHours,
    RunRules,
    Target,
    in_words,
    is_open,
    next_opening,
    outline,
    parse_rules,
    read_rules,
)

__all__ = [
    "Budget",
    "Counts",
    "OpeningHours",
    "RunEnd",
    "RunRules",
    "Standing",
    "Target",
    "end_of",
    "in_words",
    "is_open",
    "needed",
    "next_opening",
    "outline",
    "parse_rules",
    "places_open",
    "read_rules",
    "room_for_another",
]
