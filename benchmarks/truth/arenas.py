"""Measure what is said of votes of an arena, and the alarms on boards with and without defects.

Voters vote by the model of Davidson, between pairs that are drawn at random, and may have tastes of their own
for systems. A few of them vote much more often than others.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from benchmarks.truth.part import Count, Counted, Part, held
from qc.comparison.alarms import DRAWN_MORE, LOSSES_MISSING, PARTIAL_VOTER, alarms
from qc.comparison.votes import analyse_votes
from qc.loading.votes import Votes

TIES = 0.6
# Weights of STYLES, where style matters.
WEIGHTS = np.array([0.5, 0.0])
# Votes of a voter for one's own system, and the share of losses that are deleted.
OWN, DELETED = 200, 0.5
SAID = ("score held (95)", "any wrongly told apart (≤ 5)", "weight of style held (95)")
ALARMS = ("any alarm on a clean board (≤ 5)",)
FOUND = ("the defect is found", "another system is named (≤ 5)")


@dataclass(frozen=True)
class Board:
    """A made-up board.

    Attributes:
        name: in words.
        votes, voters, systems: numbers.
        spread: standard deviation of the scores; 0 for equal systems.
        taste: standard deviation of what one voter has for one system, in log odds.
        defect: the kind of alarm that the board should raise, for its first system; None on a clean board.
        known: whether it is known who voted.
        style: whether longer replies are preferred.
    """

    name: str
    votes: int
    voters: int
    systems: int
    spread: float = 0.0
    taste: float = 0.0
    defect: str | None = None
    known: bool = True
    style: bool = False


BOARDS = {
    "arena-equal": Board("10 equal systems, 5,000 votes of 500 voters", 5_000, 500, 10),
    "arena-tastes": Board(
        "10 equal systems, 5,000 votes of 500 voters with tastes", 5_000, 500, 10, taste=1.0
    ),
    "arena-few": Board("6 equal systems, 1,500 votes of 120 voters with tastes", 1_500, 120, 6, taste=0.7),
    "arena-unknown": Board("10 equal systems, 5,000 votes, voters not told", 5_000, 5_000, 10, known=False),
    "arena-style": Board("10 systems, longer replies preferred", 5_000, 500, 10, 0.5, style=True),
    "arena-spread": Board("20 systems, 20,000 votes of 2,000 voters", 20_000, 2_000, 20, 0.7),
    "arena-spread-tastes": Board(
        "20 systems, 20,000 votes of 2,000 voters with tastes", 20_000, 2_000, 20, 0.7, 0.7
    ),
    "arena-sampled": Board(
        "20 systems, one drawn a fifth more often", 20_000, 2_000, 20, 0.7, 0.7, DRAWN_MORE
    ),
    "arena-lost": Board(
        "20 systems, half of one's losses deleted, 100,000 votes",
        100_000,
        10_000,
        20,
        0.7,
        0.7,
        LOSSES_MISSING,
    ),
    "arena-partial": Board(
        "20 systems, a voter with 200 votes for one's own", 20_000, 2_000, 20, 0.7, 0.7, PARTIAL_VOTER
    ),
}


def drawn_votes(board: Board, rng: np.random.Generator) -> tuple[Votes, np.ndarray]:
    """Return the votes of a board, and the true scores."""
    n = board.systems
    scores = rng.normal(0, board.spread, n) if board.spread else np.zeros(n)
    scores -= scores.mean()
    # Some vote much more often than others, by a log-normal law.
    pace = rng.lognormal(0, 1.0, board.voters)
    voters = np.arange(board.votes)
    if board.known:
        voters = rng.choice(board.voters, board.votes, p=pace / pace.sum())
    weights = np.ones(n)
    if board.defect == DRAWN_MORE:
        weights[0] = 1.2
    first = rng.choice(n, board.votes, p=weights / weights.sum())
    second = rng.choice(n, board.votes, p=weights / weights.sum())
    while (same := first == second).any():
        first[same] = rng.choice(n, int(same.sum()), p=weights / weights.sum())
        second[same] = rng.choice(n, int(same.sum()), p=weights / weights.sum())
    if board.defect == PARTIAL_VOTER:
        own = slice(0, OWN)
        voters[own], first[own] = board.voters, 0
        second[own] = rng.integers(1, n, OWN)
    if board.taste:
        tastes = rng.normal(0, board.taste, (board.voters + 1, n))
        difference = scores[first] - scores[second] + tastes[voters, first] - tastes[voters, second]
    else:
        difference = scores[first] - scores[second]
    style = None
    if board.style:
        style = rng.uniform(-1, 1, (board.votes, len(WEIGHTS)))
        difference = difference + style @ WEIGHTS
    half = np.exp(difference / 2)
    total = half + 1 / half + TIES
    u = rng.random(board.votes)
    outcome = np.where(u < half / total, 1, np.where(u < (half + TIES) / total, 0, -1)).astype(np.int8)
    if board.defect == PARTIAL_VOTER:
        outcome[own] = 1
    kept = np.ones(board.votes, bool)
    if board.defect == LOSSES_MISSING:
        lost = ((first == 0) & (outcome < 0)) | ((second == 0) & (outcome > 0))
        kept = ~(lost & (rng.random(board.votes) < DELETED))
    codes, found = np.unique(voters[kept], return_inverse=True)
    votes = Votes(
        name="made up",
        source="made up",
        systems=tuple(f"system {number:02}" for number in range(n)),
        first=first[kept],
        second=second[kept],
        outcome=outcome[kept],
        voters=found.astype(np.intp),
        voted_by="judge" if board.known else None,
        voter_names=np.array([f"voter {code}" for code in codes], object),
        style=None if style is None else style[kept],
        notes=(),
    )
    return votes, scores


def _counting(key: str) -> Count:
    board = BOARDS[key]

    def count(number: int) -> Mapping[str, Counted]:
        votes, scores = drawn_votes(board, np.random.default_rng([23, number]))
        found = analyse_votes(votes, number)
        raised = alarms(found, number)
        if board.defect is not None:
            hit = any(each.kind == board.defect and each.system == "system 00" for each in raised)
            other = any(each.system != "system 00" for each in raised)
            return dict(zip(FOUND, ((float(hit), 1), (float(other), 1)), strict=True))
        said = {ALARMS[0]: (float(bool(raised)), 1)}
        if found.style is not None:
            return said | {SAID[2]: held(found.style.low, found.style.high, WEIGHTS)}
        # Tastes bend the model, so that scores of systems that differ have no plain truth.
        if board.spread and board.taste:
            return said
        wrong = found.above & (scores[:, None] <= scores)
        return said | {SAID[0]: held(found.low, found.high, scores), SAID[1]: (float(wrong.any()), 1)}

    return count


PARTS = {
    "arena": Part(
        {
            "What is said of votes of an arena": SAID,
            "How often a clean board raises an alarm": ALARMS,
            "How often a defect is found": FOUND,
        },
        {key: board.name for key, board in BOARDS.items()},
        _counting,
    )
}
