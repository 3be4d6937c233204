"""Find settings of a study that contradict each other."""

from collections.abc import Iterator
from typing import assert_never

from server.session.answer_kinds import KINDS, answer_type, misfits
from server.session.plan import QC
from server.session.questionnaire import PARTS
from server.settings_file import Location
from server.study.study import PARTNER, PEOPLE, Study
from server.study.text_mistakes import text_mistakes

_FEWEST_INPUTS_OF_A_QUIZ = 3
# The names of reports' own columns (qc.run.RESERVED_LABELS, which the server does not import).
RESERVED_LABELS = frozenset({"overall", "system", "n", "model", "z", "raw"})


def contradictions(study: Study) -> Iterator[tuple[Location, str]]:
    """Yield contradictions in a study whose settings are each valid."""
    yield from _of_other_tasks(study)
    if study.recruiter is not None and study.completion_url is not None:
        yield ("completion_url",), "the recruiter says where workers go: leave it out"
    yield from _repeated("criteria", "label", [c.label for c in study.criteria])
    for i, criterion in enumerate(study.criteria):
        if criterion.label in RESERVED_LABELS:
            reason = f"`{criterion.label}` has a meaning of its own in reports: choose another"
            yield ("criteria", i, "label"), reason
    yield from text_mistakes(study)
    yield from _unfit_scales(study)
    yield from _unfit_questions(study)
    match study.task:
        case "chat":
            yield from _unfit_for_chat(study)
        case "transcripts":
            yield from _unfit_for_transcripts(study)
        case "side_by_side":
            yield from _unfit_for_pairs(study)
        case _:
            assert_never(study.task)


def _of_other_tasks(study: Study) -> Iterator[tuple[Location, str]]:
    for name in sorted(study.model_fields_set & study.task_type.unused):
        yield (name,), f"means nothing where the task is `{study.task}`: leave it out"


def _unfit_scales(study: Study) -> Iterator[tuple[Location, str]]:
    """Yield mistakes in criteria that are not rated on the slider."""
    if study.task_type.needs_ratings and not any(c.is_scored for c in study.criteria):
        yield (
            ("criteria",),
            "none is rated: answer at least one by a `slider` or on a `likert` scale",
        )
    for i, criterion in enumerate(study.criteria):
        scale = criterion.scale
        if scale is None:
            continue
        if not scale.type.for_criteria:
            kinds = ", ".join(kind for kind in KINDS if answer_type(kind).for_criteria)
            yield ("criteria", i, "scale", "kind"), f"a criterion is answered by one of {kinds}"
        for name, reason in misfits(scale):
            yield ("criteria", i, "scale", name), reason
        if not scale.type.is_scored:
            for name in sorted(criterion.model_fields_set & {"negative", "qc"}):
                reason = f"answers by `{scale.kind}` are counted, and not scored: leave it out"
                yield ("criteria", i, name), reason


def _unfit_questions(study: Study) -> Iterator[tuple[Location, str]]:
    """Yield mistakes in questionnaires."""
    criteria = [c.label for c in study.criteria]
    for part in PARTS:
        labels = [question.label for question in study.questionnaires.of(part)]
        for i, question in enumerate(study.questionnaires.of(part)):
            where: Location = ("questionnaires", part, i)
            if question.label in labels[:i]:
                yield (*where, "label"), f"`{question.label}` is there already: every label must be different"
            if part == "conversation" and question.label in criteria:
                yield (*where, "label"), f"`{question.label}` is a criterion: choose another label"
            if question.type.is_scored and question.ends is None:
                yield where, "say what its ends mean: write for example `ends: [not at all, very]`"
            for name, reason in misfits(question):
                yield (*where, name), reason


def _unfit_for_transcripts(study: Study) -> Iterator[tuple[Location, str]]:
    if study.items is None or (study.items.run is None) == (study.items.file is None):
        yield ("items",), "say where the items come from: `{run: NAME}` or `{file: texts.jsonl}`"
    elif study.items.run is not None:
        if study.per_assignment.reference:
            yield ("composition",), "the conversations of a run have no references: ask for `reference: 0`"
        if study.post_edit is not None:
            yield ("post_edit",), "only texts can be improved, and the items of a run are conversations"
    parts = study.per_assignment
    if parts.twins > parts.ordinary:
        reason = (
            f"each bad twin, repeat and reference belongs to another ordinary item; these are {parts.twins} "
            f"for {parts.ordinary} ordinary ones"
        )
        yield ("composition",), reason
    if parts.bad and not any(c.qc and c.is_scored for c in study.criteria):
        yield ("criteria",), "none counts for quality control: set `qc: true` on at least one"
    if study.post_edit is not None:
        found = [c for c in study.criteria if c.label == study.post_edit.criterion]
        if not found:
            yield ("post_edit", "criterion"), f"there is no criterion `{study.post_edit.criterion}`"
        elif found[0].negative:
            yield ("post_edit", "criterion"), "choose a criterion that is not negative: its top is the best"
    for i, question in enumerate(study.tutorial.questions if study.tutorial else ()):
        if question.right > len(question.answers):
            yield ("tutorial", "questions", i, "right"), f"there are {len(question.answers)} answers"


def _unfit_for_pairs(study: Study) -> Iterator[tuple[Location, str]]:
    if len(study.systems) < 2:
        yield ("systems",), "a comparison side by side needs at least two systems"
    comparison = study.comparison
    if comparison is not None and (comparison.history, comparison.choose) == ("chosen", "end"):
        reason = "only what is chosen after each turn can go on: set `choose: turn`, or `history: own`"
        yield ("comparison", "history"), reason
    if study.qc_per_assignment > max(study.conversations - 2, 0):
        reason = "pairs with the qc bot are never first or last: there are not enough places between"
        yield ("qc_per_assignment",), reason
    for i, spec in enumerate(study.systems):
        if spec.bot in PEOPLE:
            yield ("systems", i, "bot"), "people hold one chat at a time, not two side by side"
    yield from _unfit_inputs(study)
    yield from _unfit_systems(study)


def _unfit_for_chat(study: Study) -> Iterator[tuple[Location, str]]:
    yield from _repeated("scenarios", "label", [s.label for s in study.scenarios])
    if not study.systems:
        yield ("systems",), "a study in which workers chat evaluates at least one system"
    yield from _unfit_numbers(study)
    yield from _unfit_people(study)
    yield from _unfit_systems(study)


def _unfit_people(study: Study) -> Iterator[tuple[Location, str]]:
    """Yield mistakes in studies with chat partners who are people."""
    named = [i for i, spec in enumerate(study.systems) if spec.bot in PEOPLE]
    if not named:
        if study.people is not None:
            yield ("people",), f"no system has a bot that is a person ({' or '.join(PEOPLE)}): leave it out"
        return
    if study.people is None:
        reason = (
            "where people answer, say which bot takes over when they do not: "
            "`people: {take_over: builtin:retrieval, consent_says_so: true}`"
        )
        yield ("systems", named[0], "bot"), reason
    elif study.consent is None or not study.people.consent_says_so:
        reason = (
            "workers must consent to chats with people: write a consent (`texts: {consent: …}`) that says"
            " that some partners may be people who read what they write, and confirm it:"
            " `consent_says_so: true`"
        )
        yield ("people", "consent_says_so"), reason
    elif study.people.take_over in PEOPLE:
        yield ("people", "take_over"), "a bot takes over where people do not answer: name one"
    elif "wait" in study.people.model_fields_set and not any(s.bot == PARTNER for s in study.systems):
        yield (
            ("people", "wait"),
            f"nobody waits for a researcher to come, only for a `{PARTNER}`: leave it out",
        )
    for i in named:
        # Researchers at the desk see the persona, and answer as it; workers have their own.
        unread = ("persona", "prompt") if study.systems[i].bot == PARTNER else ("prompt",)
        for name, empty in (("persona", "none"), ("prompt", None)):
            if name in unread and getattr(study.systems[i], name) != empty:
                yield ("systems", i, name), "people speak for themselves: leave it out"


def _unfit_systems(study: Study) -> Iterator[tuple[Location, str]]:
    yield from _repeated("systems", "name", [s.name for s in study.systems])
    for i, spec in enumerate(study.systems):
        if spec.name == QC:
            yield ("systems", i, "name"), "`qc` is the name of the quality-control bot: choose another"
    if study.qc.draw == "systems" and study.qc.bot != "qc":
        reason = f"only the bot `qc` draws from the systems, and the bot is `{study.qc.bot}`: leave `bot` out"
        yield ("qc", "draw"), reason
    yield from _unjudged(study)
    if "qc" in study.bots:
        yield ("bots", "qc"), "`qc` is the quality-control bot: choose another name"


def _repeated(section: str, key: str, names: list[str]) -> Iterator[tuple[Location, str]]:
    for i, name in enumerate(names):
        if name in names[:i]:
            yield (section, i, key), f"`{name}` is there already: every {key} must be different"


def _unfit_numbers(study: Study) -> Iterator[tuple[Location, str]]:
    families = sorted({spec.family for spec in study.systems})
    if families and len(families) < study.systems_per_assignment:
        counted = "one family" if len(families) == 1 else f"{len(families)} families"
        reason = (
            f"an assignment has at most one system of each family; {study.systems_per_assignment} are asked "
            f"for, and the systems are of only {counted}: {', '.join(families)}"
        )
        yield ("systems_per_assignment",), reason
    if study.qc_per_assignment > max(study.conversations - 2, 0):
        reason = "qc conversations are never first or last: there are not enough places between"
        yield ("qc_per_assignment",), reason
    if study.qc_per_assignment and not any(c.qc and c.is_scored for c in study.criteria):
        yield ("criteria",), "none counts for quality control: set `qc: true` on at least one"
    yield from _unfit_inputs(study)


def _unfit_inputs(study: Study) -> Iterator[tuple[Location, str]]:
    if study.quiz is not None and study.minimum_inputs < _FEWEST_INPUTS_OF_A_QUIZ:
        reason = (
            "a quiz asks for a reply between the first and the last: set `minimum_inputs` to "
            f"{_FEWEST_INPUTS_OF_A_QUIZ} or more"
        )
        yield ("quiz",), reason
    if study.maximum_inputs < study.minimum_inputs:
        yield (
            ("maximum_inputs",),
            f"a conversation needs {study.minimum_inputs} inputs: allow as many",
        )


def _unjudged(study: Study) -> Iterator[tuple[Location, str]]:
    if study.simulate is None:
        return
    names, judged = {spec.name for spec in study.systems}, set(study.simulate.quality)
    for name in sorted(names - judged):
        yield ("simulate", "quality"), f"there is no quality for the system `{name}`"
    for name in sorted(judged - names):
        yield ("simulate", "quality", name), f"there is no system `{name}`"
