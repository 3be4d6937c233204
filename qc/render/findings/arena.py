"""Findings of an arena's votes, for people."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from qc.comparison.alarms import DRAWN_MORE, Alarm
from qc.comparison.votes import FEWEST_VOTERS, VoteResults
from qc.loading.votes import STYLES
from qc.render.findings import Findings, FindingsTable
from qc.statistics.confidence import ALPHA
from qc.table import (
    COUNT,
    INTERVAL,
    SYSTEM_COLUMN,
    THREE,
    Column,
    P,
    Table,
    counted,
    decimal,
    listed,
    percent,
    ranks,
    relation,
    whole,
)

METHOD = (
    "Scores: the model of Bradley and Terry (Biometrika 39, 1952) with ties after Davidson (Journal of the "
    "American Statistical Association 65, 1970), by maximum likelihood. Errors by voter: Liang and Zeger "
    "(Biometrika 73, 1986). All pairs together: the largest of all differences in normal draws "
    "(Chernozhukov, Chetverikov and Kato, Annals of Statistics 41, 2013). Ranks: Mogstad, Romano, Shaikh and "
    "Wilhelm (Review of Economic Studies 91, 2024). Voters who decide the leader: Huang, Shen, Wei and "
    "Broderick (arXiv 2508.11847). Style: as covariates (Li, Angelopoulos and Chiang, LMSYS Org, 2024), "
    "which describes and does not explain. The alarms are ours."
)


def arena_findings(found: VoteResults, raised: Sequence[Alarm], signature: str) -> Findings:
    """Return the results of an arena in tables and words.

    Args:
        found: results of the votes.
        raised: alarms.
        signature: signature of the data and options.
    """
    votes = found.votes
    return Findings(
        command="report",
        title=f"Arena: {votes.name}",
        source=votes.source,
        verdict=_verdict(found),
        notes=(*votes.notes, *(_sentence(found, each) for each in raised), *_notes(found)),
        tables=(_scores(found), _style(found), _alarms(found, raised)),
        figures=(),
        method=METHOD,
        signature=signature,
    )


def _verdict(found: VoteResults) -> tuple[str, ...]:
    votes = found.votes
    count = f"{counted(len(votes.first), 'vote')} on {counted(len(votes.systems), 'system')}"
    if votes.voted_by is not None:
        count += f" by {counted(int(votes.voters.max()) + 1, 'voter')} ({votes.voted_by})"
    if found.unfixed is not None:
        return (f"{count}.", found.unfixed)
    best = int(found.scores.argmax())
    pairs = len(votes.systems) * (len(votes.systems) - 1) // 2
    maybe = _perhaps_best(found)
    sentences = [
        f"{count}.",
        f"{votes.systems[best]} has the highest score, {decimal(found.scores[best])}. All pairs taken "
        f"together, {whole(int(found.above.sum()))} of {whole(pairs)} can be told apart, "
        f"which makes {counted(len(found.groups), 'group')}. "
        f"The best is {maybe[0] if len(maybe) == 1 else f'one of {listed(maybe, 8)}'}.",
    ]
    if (fragile := found.fragility) is not None:
        removed = counted(fragile.votes, "vote")
        if votes.voted_by is not None:
            removed += f" of {counted(fragile.voters, 'voter')}"
        share = percent(fragile.votes / len(votes.first), 3)
        sentences.append(
            f"If {removed} ({share} of all votes) were removed, {fragile.successor} would have the highest "
            "score."
        )
    return tuple(sentences)


def _perhaps_best(found: VoteResults) -> list[str]:
    order = np.argsort(-found.scores, kind="stable")
    return [found.votes.systems[i] for i in order if not found.above[:, i].any()]


def _notes(found: VoteResults) -> list[str]:
    notes = []
    if found.votes.style is not None and found.style is None and found.unfixed is None:
        notes.append(
            "Style cannot be held constant: it is the same in all replies, or goes with the systems, or "
            "length and formatting go with each other."
        )
    few = np.flatnonzero(found.effective_voters < FEWEST_VOTERS)
    if not len(few):
        return notes
    named = listed([found.votes.systems[i] for i in few])
    return [
        *notes,
        f"The votes on {named} come from voters who count as fewer than {FEWEST_VOTERS}, so these scores "
        "have no interval, and are told apart from none.",
    ]


def _sentence(found: VoteResults, alarm: Alarm) -> str:
    seen, expected = whole(alarm.seen), whole(alarm.expected)
    p = f"p {relation(alarm.p)}"
    if alarm.voter is not None:
        return (
            f"Voter {found.votes.voter_names[alarm.voter]} chose {alarm.system} {seen} times, where its "
            f"score gives {expected}: more than the tastes of voters on this board explain ({p}, all voters "
            "together)."
        )
    if alarm.kind == DRAWN_MORE:
        return (
            f"{alarm.system} was drawn for {seen} votes, and the system in the middle for {expected} ({p}, "
            "all systems together)."
        )
    return (
        f"Losses of {alarm.system} may be missing: it has fewer votes against strong rivals than against "
        f"weak ones ({p}, all systems together)."
    )


def _scores(found: VoteResults) -> FindingsTable:
    wins, ties, systems = found.wins, found.ties, found.votes.systems
    group = {name: number for number, names in enumerate(found.groups, start=1) for name in names}
    frame = pd.DataFrame(
        {
            "system": systems,
            "group": [group.get(name, 0) for name in systems],
            "ranks": _ranks(found),
            "score": found.scores,
            "low": found.low,
            "high": found.high,
            "votes": (wins + wins.T + ties).sum(axis=1).astype(int),
            "wins": wins.sum(axis=1).astype(int),
            "ties": ties.sum(axis=1).astype(int),
            "losses": wins.sum(axis=0).astype(int),
            "effective_voters": found.effective_voters,
        }
    )
    columns = [
        SYSTEM_COLUMN,
        Column("group", "Group", COUNT),
        Column("ranks", "Ranks"),
        Column("score", "Score", THREE),
        INTERVAL,
        Column("votes", "Votes", COUNT),
        Column("wins", "Preferred", COUNT),
        Column("ties", "Ties", COUNT),
        Column("losses", "Other preferred", COUNT),
        Column("effective_voters", "Effective voters", COUNT),
    ]
    if found.style is not None:
        frame["score_of_equal_style"] = found.style.scores
        columns.append(Column("score_of_equal_style", "With style held constant", THREE))
    rows = frame.sort_values("score", ascending=False, kind="stable", na_position="last")
    text = (
        "Scores are logarithms of odds, of mean 0: of two systems whose scores differ by 1 one is preferred "
        "2.7 times as often as the other, ties aside. Every system of a group is told apart from every one "
        "of a later group. The chance of an error in any group or range of ranks is 5 %."
    )
    return FindingsTable("scores", "Scores of the systems", text, Table(frame, tuple(columns), rows))


def _ranks(found: VoteResults) -> list[str]:
    """Return the ranks that each system may have, all systems together."""
    low, high = 1 + found.above.sum(axis=0), len(found.scores) - found.above.sum(axis=1)
    return [ranks(int(i), int(j)) for i, j in zip(low, high, strict=True)]


def _style(found: VoteResults) -> FindingsTable:
    columns = (Column("style", "Style"), Column("weight", "Weight", THREE), INTERVAL)
    style = found.style
    frame = pd.DataFrame(
        {"style": [], "weight": [], "low": [], "high": []}
        if style is None
        else {"style": STYLES, "weight": style.weights, "low": style.low, "high": style.high}
    )
    text = (
        "How much the log odds of a preference grow if all characters, or all headings, list items and bold "
        "words, are those of one of the two replies. It describes what goes with votes and is no cause."
    )
    return FindingsTable("style", "Style of the replies", text, Table(frame, columns))


def _alarms(found: VoteResults, raised: Sequence[Alarm]) -> FindingsTable:
    names = found.votes.voter_names
    frame = pd.DataFrame(
        [
            (
                each.kind,
                each.system,
                "" if each.voter is None else names[each.voter],
                each.seen,
                each.expected,
                each.p,
            )
            for each in raised
        ],
        columns=["alarm", "system", "voter", "seen", "expected", "p"],
    )
    columns = (
        Column("alarm", "Alarm"),
        SYSTEM_COLUMN,
        Column("voter", "Voter"),
        Column("seen", "Votes", COUNT),
        Column("expected", "Expected", COUNT),
        Column("p", "p", P),
    )
    text = (
        "A board without uneven sampling, missing losses and partial voters raises any alarm with a chance "
        f"of {percent(ALPHA, 0)} at most. An alarm says that the board deviates, not why."
    )
    return FindingsTable("alarms", "Alarms", text, Table(frame, columns))
