"""Fixed facts of one assignment, and the worker's return address. Pure."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WaysOut:
    """Where those go who end without handing in, by why they do; None: nowhere.

    `no_consent`: they have not agreed; `screened_out`: they have not passed the test questions;
    `our_failure`: a chatbot failed them; `reported`: they left with a report, and `reported_code` proves it;
    `returned`: any other reason. Where there is no way of its own for a report, it is as if handed in.
    """

    no_consent: str | None = None
    screened_out: str | None = None
    our_failure: str | None = None
    reported: str | None = None
    reported_code: str | None = None
    returned: str | None = None


@dataclass(frozen=True, slots=True)
class AssignmentContext:
    """What is fixed about one assignment.

    `seed` fixes what is drawn for it. `reply_pace` scales reply times; 1 for people. `code` is what the
    worker gets for handing it in, `return_to` where they then go; None: nowhere. `ways_out`: where they go
    who do not hand it in.
    """

    assignment: str
    seed: int
    reply_pace: float
    code: str
    return_to: str | None
    ways_out: WaysOut = WaysOut()
