"""Compute the progress of a run from its assignments. Pure functions."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import accumulate
from typing import assert_never

from server.desk.runs.responses import FunnelStep, SystemProgress
from server.desk.runs.workers import ConversationFacts, WorkerFacts
from server.session.plan import QC
from server.session.state import Phase
from server.study import Study

_STEPS = {"planned": Phase.TOPIC, "active": Phase.CHAT, "ended": Phase.RATING}
_HELD = ("planned", "active", "rated", "unrated")  # statuses that count for a system's share
_COUNTED = (*_HELD, "failed", "skipped")
Place = tuple[Phase, int | None]


def place_of(worker: WorkerFacts, study: Study) -> Place:
    """Return the worker's current or last step, and the number of its conversation."""
    if worker.status == "completed":
        return Phase.DONE, None
    if worker.agreed_at is None:
        return Phase.INSTRUCTIONS, None
    if study.asked.before and "before" not in worker.submitted:
        return Phase.QUESTIONS_BEFORE, None
    if study.tutorial is not None and worker.answers < len(study.tutorial.questions):
        return Phase.TUTORIAL, None
    current = worker.current
    if current is not None:
        return _step_of(current, study), current.number
    is_asked = study.asked.after and "after" not in worker.submitted
    return Phase.QUESTIONS_AFTER if is_asked else Phase.FEEDBACK, None


def _step_of(current: ConversationFacts, study: Study) -> Phase:
    if not study.task_type.chats:
        return Phase.RATING
    if current.is_quizzed:
        return Phase.QUIZ
    chooses = current.status == "ended" and Phase.CHOICE in _steps(study) and not current.is_chosen
    return Phase.CHOICE if chooses and current.side == "left" else _STEPS[current.status]


def funnel(workers: Iterable[WorkerFacts], study: Study) -> list[FunnelStep]:
    """Return the steps of an assignment, with the workers who reached each, are there, or stopped there."""
    places = _places(study)
    rank = {place: number for number, place in enumerate(places)}
    stand: Counter[Place] = Counter()
    lost: Counter[Place] = Counter()
    furthest = [0] * len(places)
    for worker in workers:
        place = place_of(worker, study)
        furthest[rank.get(place, len(places) - 1)] += 1
        if worker.status == "active":
            stand[place] += 1
        elif worker.status != "completed":
            lost[place] += 1
    # A worker who reached a step has reached all steps before it.
    reached = list(accumulate(reversed(furthest)))[::-1]
    return [
        FunnelStep(
            step=place[0], position=place[1], reached=reached[number], now=stand[place], lost=lost[place]
        )
        for number, place in enumerate(places)
    ]


def _places(study: Study) -> list[Place]:
    asked = study.asked
    before: list[Place] = [(Phase.QUESTIONS_BEFORE, None)] if asked.before else []
    if study.tutorial is not None:
        before.append((Phase.TUTORIAL, None))
    held = [(step, number) for number in range(1, study.conversations + 1) for step in _steps(study)]
    after: list[Place] = [(Phase.QUESTIONS_AFTER, None)] if asked.after else []
    ends: list[Place] = [(Phase.FEEDBACK, None), (Phase.DONE, None)]
    return [(Phase.INSTRUCTIONS, None), *before, *held, *after, *ends]


def _steps(study: Study) -> tuple[Phase, ...]:
    """Return the steps of each conversation."""
    match study.task:
        case "chat":
            quiz = (Phase.QUIZ,) if study.quiz is not None else ()
            return (Phase.TOPIC, Phase.CHAT, Phase.RATING, *quiz)
        case "transcripts":
            return (Phase.RATING,)
        case "side_by_side":
            at_end = study.comparison is not None and study.comparison.choose == "end"
            choice = (Phase.CHOICE,) if at_end else ()
            rating = (Phase.RATING,) if study.criteria or study.asked.conversation else ()
            return (Phase.TOPIC, Phase.CHAT, *choice, *rating)
        case _:
            assert_never(study.task)


def systems(
    workers: Collection[WorkerFacts], study: Study, families: dict[str, str], places: int | None
) -> list[SystemProgress]:
    """Return the progress of every system.

    Unfinished conversations of ended assignments are not counted.

    Args:
        workers: the workers whose conversations count.
        study: their study.
        families: the family of every system, including the QC bot, in the order of the list.
        places: the planned number of assignments; None if unlimited.
    """
    counts: dict[str, Counter[str]] = {name: Counter() for name in families}
    for worker in workers:
        for held in worker.conversations:
            if worker.status == "active" or held.status in {"rated", "unrated", "failed", "skipped"}:
                counts[held.system]["active" if held.status == "ended" else held.status] += 1
            counts[held.system]["inputs"] += held.inputs
    aim = _aim(counts, study, families, places)
    return [
        SystemProgress(
            system=name,
            family=family,
            is_qc=name == QC,
            **{status: counts[name][status] for status in _COUNTED},
            inputs=counts[name]["inputs"],
            aim=aim(name),
        )
        for name, family in families.items()
    ]


def _aim(
    counts: dict[str, Counter[str]], study: Study, families: dict[str, str], places: int | None
) -> Callable[[str], float | None]:
    """Return a function from a system to the number of conversations that it should have.

    Families get equal numbers, and so do the systems of a family. In a side-by-side study, systems get equal
    numbers regardless of families.
    """
    if not study.task_type.chats:
        return lambda _: None
    if places is None:
        held = {name: sum(count[s] for s in _HELD) for name, count in counts.items()}
        of_systems, of_qc = sum(k for name, k in held.items() if name != QC), held.get(QC, 0)
    else:
        of_systems, of_qc = places * study.systems_met, places * study.qc_per_assignment
    # Pairs are drawn regardless of families.
    groups = {name: name if study.pairs else family for name, family in families.items()}
    sizes = Counter(group for name, group in groups.items() if name != QC)

    def aim(name: str) -> float:
        if name == QC:
            return float(of_qc)
        return round(of_systems / len(sizes) / sizes[groups[name]], 1)

    return aim


def minutes_to_go(wanted: int | None, completed: int, lately: Sequence[float]) -> int | None:
    """Return the minutes until all planned assignments are submitted, at the pace of the last hour.

    Args:
        wanted: the planned number of assignments; None if unlimited.
        completed: the number of submitted ones.
        lately: for each submission within the last hour, how many minutes ago it was.

    Returns:
        None if the number is unlimited, or there are too few recent submissions for an estimate.
    """
    if wanted is None or len(lately) < _ENOUGH:
        return None
    to_go = max(wanted - completed, 0) * max(lately) / len(lately)
    return round(to_go / _TO) * _TO if to_go >= _TO else round(to_go)


_ENOUGH = 3  # submissions within the hour that an estimate needs
_TO = 5  # longer times are rounded to this number of minutes
