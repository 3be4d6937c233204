"""A study: what is evaluated, on which criteria, under which rules. Read from a YAML file."""

import hashlib
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from bots import UrlEndpoint
from server.errors import StudyInvalid
from server.session.instrument import Criterion, Label, PostEdit, Statement, TopicMode, Tutorial
from server.session.plan import QC
from server.session.reply_time import ReplyTime

Sentence = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=300)]
Persona = Annotated[list[Sentence], Field(min_length=1, max_length=20)]


DEMO = Path(__file__).parent / "studies" / "demo.yaml"
DEMO_TRANSCRIPTS = Path(__file__).parent / "studies" / "demo_transcripts.yaml"
# What reports call their own columns (qc.run.RESERVED_LABELS, which the server does not import).
_RESERVED_LABELS = frozenset({"overall", "system", "n", "model", "z", "raw"})
_HOUR, _DAY = 3_600.0, 86_400.0
# How a bot may be called that is registered with the server.
REGISTERED = re.compile(r"(?!qc\Z)[a-z0-9][a-z0-9_-]{0,63}")


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class SystemSpec(_Section):
    """A system under evaluation: a bot, with or without a persona.

    `bot`: "builtin:NAME", a name of the study's `bots`, or one that is registered with the server.
    `persona`: "none", "random" (drawn per conversation from the study's pool), or fixed sentences.
    """

    name: Label
    family: Label
    bot: Statement
    persona: Literal["none", "random"] | Persona = "none"


class QcSpec(_Section):
    """The quality-control bot and its corpus (METHOD section 3).

    `draw`: it distorts lines of the corpus, as published, or what the systems of the run have said to other
    workers. The corpus serves until they have said enough.
    """

    bot: Statement = "qc"
    corpus: Statement = "builtin:smalltalk"
    draw: Literal["corpus", "systems"] = "corpus"


class Timeouts(_Section):
    """Seconds. A bot gets `bot_try` per try and `bot_total` in all; an assignment's place becomes free
    after `idle` without a message, or `assignment` in all.
    """

    bot_try: Annotated[float, Field(gt=0, le=_HOUR)] = 20.0
    bot_total: Annotated[float, Field(gt=0, le=_HOUR)] = 60.0
    idle: Annotated[float, Field(gt=0, le=30 * _DAY)] = _HOUR / 2
    assignment: Annotated[float, Field(gt=0, le=30 * _DAY)] = 3 * _HOUR


class Simulate(_Section):
    """What simulated workers believe: the quality of every system, from 0 (bad) to 1 (good)."""

    quality: dict[Label, Annotated[float, Field(ge=0, le=1)]]


class ItemsSpec(_Section):
    """Where the items of a transcript study come from: one of the two.

    `run`: the finished conversations of a run of the same database. `file`: the lines of a JSONL file.
    """

    run: Statement | None = None
    file: Statement | None = None


class Composition(_Section):
    """How many items of each kind one assignment has (Ji, PhD thesis, chapters 3 and 4).

    Bad twins, repeats and references belong to different ordinary items of the same assignment.
    """

    ordinary: Annotated[int, Field(ge=1, le=200)]
    bad: Annotated[int, Field(ge=0, le=100)] = 0
    repeat: Annotated[int, Field(ge=0, le=100)] = 0
    reference: Annotated[int, Field(ge=0, le=100)] = 0

    @property
    def twins(self) -> int:
        """Items that belong to an ordinary one."""
        return self.bad + self.repeat + self.reference

    @property
    def items(self) -> int:
        """Items in one assignment."""
        return self.ordinary + self.twins


CompositionName = Literal["reading", "questions"]
COMPOSITIONS: dict[CompositionName, Composition] = {
    "reading": Composition(ordinary=70, bad=10, repeat=10, reference=10),
    "questions": Composition(ordinary=11, bad=6, repeat=3),
}


class Study(_Section):
    """A whole study. `listed`: the server's start page announces it while a run of it is open.

    `rate_share`: the share of a system's conversations that workers are asked to rate; the others, drawn at
    random, are left unrated. `judgments_per_item`: how many workers rate each item, at least.

    `task`: workers chat and rate (`chat`), or rate what others have said or written (`transcripts`). What is
    asked, by whom and under which rules is the same for both; CHAT_ONLY and TRANSCRIPTS_ONLY name the rest.
    """

    name: Label
    title: Statement
    payment: Statement
    task: Literal["chat", "transcripts"] = "chat"
    listed: bool = False
    topic_mode: TopicMode = "free"
    systems_per_assignment: Annotated[int, Field(ge=1, le=20)] = 5
    qc_per_assignment: Annotated[int, Field(ge=0, le=5)] = 1
    minimum_inputs: Annotated[int, Field(ge=1, le=100)] = 10
    maximum_inputs: Annotated[int, Field(ge=1, le=1_000)] = 100
    maximum_topic_changes: Annotated[int, Field(ge=0, le=1_000)] = 50
    assignments: Annotated[int, Field(ge=1)] | None = None
    criteria: Annotated[list[Criterion], Field(min_length=1, max_length=30)]
    corpus: Statement = "builtin:smalltalk"
    personas: Literal["corpus"] | Annotated[list[Persona], Field(min_length=1)] = "corpus"
    bots: dict[Label, UrlEndpoint] = {}
    systems: list[SystemSpec] = []
    qc: QcSpec = QcSpec()
    rate_share: Annotated[float, Field(gt=0, le=1)] = 1.0
    items: ItemsSpec | None = None
    composition: CompositionName | Composition = "questions"
    judgments_per_item: Annotated[int, Field(ge=2, le=50)] = 2
    degradation: Literal["chapter5", "chapter3"] = "chapter5"
    post_edit: PostEdit | None = None
    tutorial: Tutorial | None = None
    completion_url: str | None = None
    reply_time: ReplyTime = ReplyTime()
    timeouts: Timeouts = Timeouts()
    simulate: Simulate | None = None

    @property
    def conversations(self) -> int:
        """Conversations in one assignment, or items in one of a transcript study."""
        if self.task == "transcripts":
            return self.per_assignment.items
        return self.systems_per_assignment + self.qc_per_assignment

    @property
    def per_assignment(self) -> Composition:
        """How many items of each kind one assignment has, whether named or given by number."""
        return COMPOSITIONS[self.composition] if isinstance(self.composition, str) else self.composition

    @property
    def rates_all(self) -> bool:
        """Whether workers rate every conversation that they hold."""
        return self.rate_share == 1.0

    @property
    def bots_of_systems(self) -> dict[str, str]:
        """The bot of each system, by the system's name; the qc bot is that of `QC`. No bots: no chat."""
        if self.task == "transcripts":
            return {}
        return {spec.name: spec.bot for spec in self.systems} | {QC: self.qc.bot}

    @property
    def registered_bots(self) -> tuple[str, ...]:
        """The names that mean bots registered with the server, each once."""
        bots = dict.fromkeys(self.bots_of_systems.values())
        return tuple(bot for bot in bots if bot not in self.bots and REGISTERED.fullmatch(bot))


# The settings that mean something for one task only.
CHAT_ONLY = frozenset({
    "topic_mode", "systems_per_assignment", "qc_per_assignment", "minimum_inputs", "maximum_inputs",
    "maximum_topic_changes", "corpus", "personas", "bots", "systems", "qc", "rate_share", "reply_time",
})  # fmt: skip
TRANSCRIPTS_ONLY = frozenset({
    "items", "composition", "judgments_per_item", "degradation", "post_edit", "tutorial",
})  # fmt: skip

Location = tuple[int | str, ...]


def _contradictions(study: Study) -> Iterator[tuple[Location, str]]:
    """Yield what does not fit together in a study whose every setting is fine by itself."""
    yield from _of_the_other_task(study)
    yield from _repeated("criteria", "label", [c.label for c in study.criteria])
    for i, criterion in enumerate(study.criteria):
        if criterion.label in _RESERVED_LABELS:
            reason = f"`{criterion.label}` has a meaning of its own in reports: choose another"
            yield ("criteria", i, "label"), reason
    yield from _unfit_for_chat(study) if study.task == "chat" else _unfit_for_transcripts(study)


def _of_the_other_task(study: Study) -> Iterator[tuple[Location, str]]:
    others = TRANSCRIPTS_ONLY if study.task == "chat" else CHAT_ONLY
    for name in sorted(study.model_fields_set & others):
        yield (name,), f"means nothing where the task is `{study.task}`: leave it out"


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
    if parts.bad and not any(c.qc for c in study.criteria):
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


def _unfit_for_chat(study: Study) -> Iterator[tuple[Location, str]]:
    if not study.systems:
        yield ("systems",), "a study in which workers chat evaluates at least one system"
    yield from _repeated("systems", "name", [s.name for s in study.systems])
    yield from _unfit_numbers(study)
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
    families = {spec.family for spec in study.systems}
    if len(families) < study.systems_per_assignment:
        reason = (
            f"an assignment has at most one system of each family; {study.systems_per_assignment} are asked "
            f"for, but there are only {len(families)} families: {', '.join(sorted(families))}"
        )
        yield ("systems_per_assignment",), reason
    if study.qc_per_assignment > max(study.conversations - 2, 0):
        reason = "qc conversations are never first or last: there are not enough places between"
        yield ("qc_per_assignment",), reason
    if study.qc_per_assignment and not any(c.qc for c in study.criteria):
        yield ("criteria",), "none counts for quality control: set `qc: true` on at least one"
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


def load_study(path: Path) -> tuple[Study, str]:
    """Read a study file; return the study and the file's text.

    Raises:
        StudyInvalid: with every mistake, each on its line.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise StudyInvalid(f"{path}: cannot be read: {error}") from error
    return parse_study(text, str(path)), text


@lru_cache(maxsize=64)
def parse_study(text: str, source: str = "study") -> Study:
    """Return the study that `text` describes. Raises StudyInvalid as `load_study` does.

    Kept in memory: the texts of runs do not change, and every look at a run needs its study.
    """
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        content = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{source}:{mark.line + 1}" if mark else source
        reason = getattr(error, "problem", None) or str(error)
        raise StudyInvalid(f"{where}: not valid YAML: {reason}") from error
    except ValueError as error:  # a value that looks like a date or a number, and is none
        raise StudyInvalid(f"{source}: not valid YAML: {error}") from error
    except RecursionError as error:
        raise StudyInvalid(f"{source}: not valid YAML: it is nested too deeply") from error
    if not isinstance(content, dict) or root is None:
        raise StudyInvalid(f"{source}:1: a study is a mapping of settings; this file holds none")
    try:
        study = Study.model_validate(content)
        problems = list(_contradictions(study))
    except ValidationError as error:
        problems = [(e["loc"], e["msg"]) for e in error.errors()]
    lines = [f"{source}:{line}: {_path(where)}is given twice" for line, where in _given_twice(root)]
    lines += [f"{source}:{_line_of(root, where)}: {_path(where)}{reason}" for where, reason in problems]
    if lines:
        raise StudyInvalid("\n".join(dict.fromkeys(lines)))
    return study


def study_hash(text: str) -> str:
    """Return a short fingerprint of a study file's text."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _path(location: Location) -> str:
    keys = [str(key) for key in location if not (isinstance(key, str) and "[" in key)]
    return ".".join(keys) + ": " if keys else ""


# PyYAML and not ruamel.yaml, which knows lines and repeated keys, too: that stops at the first repeated key,
# does not say of which setting it is, and reads texts of studies that are stored in another way: as YAML 1.1
# `y` and `n` are booleans to it, as YAML 1.2 `010` and `1:30` are other values.
def _given_twice(root: yaml.Node) -> list[tuple[int, Location]]:
    """Return the settings that stand twice in one mapping, which YAML itself lets pass, with their lines."""
    found: list[tuple[int, Location]] = []
    seen: set[int] = set()  # aliases can make a node its own child
    nodes: list[tuple[yaml.Node, Location]] = [(root, ())]
    while nodes:
        node, path = nodes.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            nodes += [(child, (*path, i)) for i, child in enumerate(node.value)]
        if isinstance(node, yaml.MappingNode):
            names = [str(key.value) for key, _ in node.value]
            for i, (key, child) in enumerate(node.value):
                nodes.append((child, (*path, names[i])))
                if names[i] in names[:i]:
                    found.append((key.start_mark.line + 1, (*path, names[i])))
    return sorted(found, key=lambda twice: twice[0])


def _line_of(root: yaml.Node, location: Location) -> int:
    node, line = root, 1
    for key in location:
        found = _child(node, key)
        if found is None:
            break
        node, line = found
    return line


def _child(node: yaml.Node, key: int | str) -> tuple[yaml.Node, int] | None:
    if isinstance(node, yaml.MappingNode):
        for name, value in node.value:
            if name.value == str(key):
                return value, name.start_mark.line + 1
    if isinstance(node, yaml.SequenceNode) and isinstance(key, int) and key < len(node.value):
        child: Any = node.value[key]
        return child, child.start_mark.line + 1
    return None
